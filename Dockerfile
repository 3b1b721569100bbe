# llm_planner in a workspace of ROS 2, as the README builds it.
#   docker build -t llm_planner .
#   docker run --rm -it --network host llm_planner ros2 launch llm_planner bringup.launch.py
ARG ROS_DISTRO=jazzy
FROM ros:${ROS_DISTRO}-ros-base AS workspace
ENV DEBIAN_FRONTEND=noninteractive MUJOCO_GL=egl
RUN apt-get update && apt-get install -y --no-install-recommends \
        g++ libegl1 libportaudio2 python3-colcon-common-extensions python3-pip python3-venv ros-${ROS_DISTRO}-rmw-fastrtps-cpp \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /ws
# Requirements first: a change of the sources does not install them again.
COPY requirements-ros.txt src/llm_planner/
RUN python3 -m venv --system-site-packages venv && touch venv/COLCON_IGNORE \
    && venv/bin/pip install --no-cache-dir --no-deps -r src/llm_planner/requirements-ros.txt
COPY . src/llm_planner
RUN apt-get update && rosdep update --rosdistro ${ROS_DISTRO} \
    && rosdep install -y --ignore-src --from-paths src/llm_planner src/llm_planner/llm_planner_interfaces \
    && rm -rf /var/lib/apt/lists/*
RUN bash -c "source /opt/ros/${ROS_DISTRO}/setup.bash && source venv/bin/activate \
    && colcon build --base-paths src/llm_planner src/llm_planner/llm_planner_interfaces"
RUN printf '%s\n' '#!/bin/bash' 'set -e' 'source /ws/venv/bin/activate' 'source /ws/install/setup.bash' 'exec "$@"' >/entrypoint \
    && chmod +x /entrypoint
ENTRYPOINT ["/entrypoint"]
CMD ["bash"]
