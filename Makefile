# make demo    set up if needed, then carry out a sentence: make demo SAY="stack the red block on the blue one"
# make test    set up if needed, then run the tests
# make check   formatting, lint and types;  make fix  mends what can be mended;  make bench  prints the measured figures
# make setup-dev  an environment for tests, checks and training as well
# make docs    the documentation as a website in build/docs, from an environment of its own
# make setup-lerobot  an environment with lerobot (9 GB), for the tests and benchmarks that compare with it
#
# PYTHON    the Python to build .venv with, 3.10 to 3.13 (found by itself otherwise)
# PIP_ARGS  more arguments for pip, e.g. an index of your own

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help setup setup-dev setup-lerobot demo test check fix bench docs clean

PYTHON ?= $(shell for p in python3.12 python3.11 python3.10 python3.13 python3; do \
	"$$p" -c 'import sys, ensurepip; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 14))' 2>/dev/null && \
	echo "$$p" && break; done)
PIP_ARGS ?=
SAY ?=
export SAY
unexport PYTHONDONTWRITEBYTECODE # each of the many processes would compile every module anew
VENV := .venv
BIN := $(VENV)/bin
LOG := $(VENV)/setup.log
LEROBOT := .venv-lerobot
SITE := .venv-docs
INTERFACE_FILES := $(shell find llm_planner_interfaces -type f -not -path '*/build/*')

# Each stamp is written only when its step has succeeded, so a broken setup is mended by running it again.
CREATED := $(VENV)/.created
PINNED := $(VENV)/.pinned
INTERFACES := $(VENV)/.interfaces
INSTALLED := $(VENV)/.installed
DEVELOPING := $(VENV)/.developing

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

setup: $(INSTALLED)
	@:

setup-dev: $(DEVELOPING)
	@:

# Quiet unless it fails: the log's end is then shown.
define logged
( $(1) ) >>$(LOG) 2>&1 || { tail -n 25 $(LOG); echo; echo "make setup failed while $(2); the whole log is $(LOG)." \
	"Mend what it names and run make setup again."; exit 1; }
endef

# provided(imports,package): whether an installed ROS has them. What is built here is built again, for the ROS wheels of now.
provided = $(BIN)/python -c '$(1); import sys; sys.exit($(2).__file__.startswith(sys.prefix))' 2>/dev/null

build_interfaces = CMAKE_PREFIX_PATH=$(CURDIR)/$(VENV) AMENT_PREFIX_PATH=$(CURDIR)/$(VENV) \
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --disable-pip-version-check --no-deps \
	--no-build-isolation --force-reinstall $(1)

$(CREATED):
	@test -n "$(PYTHON)" || { echo "No usable Python 3.10 to 3.13 (with its venv module) was found." \
		"Install one (for instance: apt install python3 python3-venv) or name it: make setup PYTHON=/path/to/python3.12"; \
		exit 1; }
	@if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
		echo "creating $(VENV) with $(PYTHON)"; rm -rf $(VENV); mkdir -p $(VENV); \
		$(call logged,$(PYTHON) -m venv $(VENV),creating $(VENV)); \
	fi
	@touch $@

# Every version is pinned, so nothing is resolved: silero-vad would bring torch along, of which only training needs it.
# Of the robot models in example-robot-data, 340 of 410 MB are legged robots and the like; only the arms stay.
ROBOT_MODELS := $(VENV)/lib/python3*/site-packages/cmeel.prefix/share/example-robot-data/robots
KEPT_MODELS := panda ur xarm so_arm tiago kinova
$(PINNED): $(CREATED) requirements.txt
	@echo "installing the pinned requirements (some minutes the first time)"
	@$(call logged,$(BIN)/python -m pip install --disable-pip-version-check --use-pep517 --no-deps $(PIP_ARGS) \
		-r requirements.txt,installing requirements)
	@find $(ROBOT_MODELS) -mindepth 1 -maxdepth 1 $(KEPT_MODELS:%=-not -name %_description) -exec rm -r {} +
	@touch $@

# PyPI has none of these interfaces; the tests of grippers and adapters need them.
$(DEVELOPING): $(INSTALLED) requirements-dev.txt $(shell find test/interfaces -type f -not -path '*/build/*')
	@echo "installing what tests, checks and training need"
	@$(call logged,$(BIN)/python -m pip install --disable-pip-version-check --use-pep517 $(PIP_ARGS) \
		-r requirements-dev.txt,installing requirements-dev.txt)
	@$(call provided,from control_msgs.action import FollowJointTrajectory; import moveit_msgs.srv; import nav2_msgs.action; \
		from nav2_msgs.msg import CostmapFilterInfo; import vision_msgs.msg,moveit_msgs) || { \
		echo "building stand-ins for control_msgs, moveit_msgs, nav2_msgs and vision_msgs (some minutes)"; \
		$(call logged,$(call build_interfaces,./test/interfaces) && \
		$(call build_interfaces,./test/interfaces/moveit_msgs),building the stand-ins for interfaces); }
	@touch $@

$(INTERFACES): $(PINNED) $(INTERFACE_FILES)
	@echo "building the ROS 2 interfaces (about half a minute)"
	@command -v c++ >/dev/null || { echo "No C++ compiler was found; install one (for instance: apt install g++)" \
		"and run make setup again."; exit 1; }
	@$(call logged,$(call build_interfaces,./llm_planner_interfaces),building the interfaces)
	@$(call provided,import tf2_msgs.msg,tf2_msgs) || { echo "building a stand-in for tf2_msgs, which PyPI lacks"; \
		$(call logged,$(call build_interfaces,./llm_planner_interfaces/tf2_msgs),building tf2_msgs); }
	@touch $@

$(INSTALLED): $(INTERFACES) setup.py setup.cfg package.xml pyproject.toml llm_planner/ros/node_table.py \
		llm_planner/control/safety_filter/kernel.cpp llm_planner/control/safety_filter/model.hpp
	@$(call logged,$(BIN)/python -m pip install --disable-pip-version-check --no-deps --no-build-isolation \
		--editable . && $(BIN)/python -m compileall -q llm_planner,installing llm_planner)
	@touch $@

setup-lerobot: $(LEROBOT)/.installed
	@:

$(LEROBOT)/.installed: $(CREATED) requirements-lerobot.txt
	@echo "installing lerobot into $(LEROBOT) (about three minutes)"
	@$(call logged,$(PYTHON) -m venv --clear $(LEROBOT),creating $(LEROBOT))
	@$(call logged,$(LEROBOT)/bin/python -m pip install --disable-pip-version-check $(PIP_ARGS) \
		-r requirements-lerobot.txt,installing lerobot)
	@touch $@

# .gitignore inside the environment keeps it out of git and of the linter.
$(SITE)/.installed: $(CREATED) requirements-docs.txt requirements.txt
	@echo "installing what builds the documentation into $(SITE) (about a minute)"
	@$(call logged,$(PYTHON) -m venv --clear $(SITE) && echo '*' >$(SITE)/.gitignore,creating $(SITE))
	@$(call logged,$(SITE)/bin/python -m pip install --disable-pip-version-check $(PIP_ARGS) \
		-r requirements-docs.txt,installing what builds the documentation)
	@touch $@

docs: $(SITE)/.installed
	@NO_MKDOCS_2_WARNING=true PYTHONPATH=. $(SITE)/bin/mkdocs --quiet build --strict
	@echo "build/docs/index.html"

demo: setup
	@$(BIN)/llm-planner demo $${SAY:+"$$SAY"}

# Those tests of the whole system that depend on its pace need the machine for themselves; the others share its cores.
ALONE := test/ros/*_over_dds.py
test: setup-dev
	@export OMP_NUM_THREADS=1; if [ -n "$(ARGS)" ]; then $(BIN)/python -m pytest $(ARGS); else \
		$(BIN)/python -m pytest --numprocesses auto --ignore-glob '$(ALONE)' && $(BIN)/python -m pytest $(ALONE); fi

check: setup-dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

fix: setup-dev
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: setup-dev
	@OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) $(LEROBOT) $(SITE) build install log dist *.egg-info
