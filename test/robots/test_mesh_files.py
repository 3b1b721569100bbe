"""Meshes of links: each file gives the controller and the safety filter the same solid, read by different libraries."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from llm_planner.control.safety_filter.covering import read_mesh
from llm_planner.control.safety_filter.urdf import read_chain
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import resolve
from llm_planner.robots.collada import GREY, load_collada
from llm_planner.robots.urdf import binary_stl, urdf_spec

QUADS = """<polylist count="1" material="m"><input semantic="VERTEX" source="#v" offset="0"/>
<vcount>4</vcount><p>0 1 3 2</p></polylist>"""
COLLADA = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2026-01-01T00:00:00</created><modified>2026-01-01T00:00:00</modified>
<unit meter="UNIT" name="unit"/><up_axis>Y_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="c"><phong><diffuse><color>1 0.5 0 1</color></diffuse>
</phong></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">0 0 0 1 0 0 0 1 0 1 1 0</float_array><technique_common>
<accessor source="#a" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
SURFACE</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><translate>0 0 2</translate><node id="o">
<rotate>0 0 1 90</rotate><instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="m" target="#m"/></technique_common></bind_material></instance_geometry></node></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


@pytest.fixture
def dae(tmp_path):
    def written(surface: str = QUADS, unit: str = "1") -> Path:
        path = tmp_path / "a.dae"
        path.write_text(COLLADA.replace("SURFACE", surface).replace("UNIT", unit), encoding="utf-8")
        return path

    return written


@pytest.mark.parametrize(("unit", "metres"), [("1", 1.0), ("0.001", 0.001)])
def test_a_collada_file_gives_its_triangles_where_its_nodes_put_them_in_metres(dae, unit, metres):
    path = dae(unit=unit)
    (mesh,) = load_collada(path)
    assert mesh.color == (1.0, 0.5, 0.0)
    for triangles in (mesh.vertices[mesh.faces], read_mesh(path)):
        sides = triangles[:, 1:] - triangles[:, :1]
        areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2
        assert areas.sum() == pytest.approx(metres**2, rel=1e-6)
        assert triangles.min(axis=(0, 1)) == pytest.approx([-metres, 0.0, 2 * metres], abs=1e-6 * metres)
        assert triangles.max(axis=(0, 1)) == pytest.approx([0.0, metres, 2 * metres], abs=1e-6 * metres)


def test_a_surface_without_a_material_is_grey(dae):
    (mesh,) = load_collada(dae(QUADS.replace(' material="m"', "")))
    assert mesh.color == GREY


@pytest.mark.parametrize("surface", ["", QUADS.replace("#v", "#elsewhere")])
def test_a_collada_file_without_a_surface_or_with_a_broken_one_is_refused_by_both(dae, surface):
    for read in (load_collada, read_mesh):
        with pytest.raises(InputError, match=r"the mesh .*a\.dae"):
            read(dae(surface))


def test_the_filter_reads_the_same_from_obj_and_stl(tmp_path):
    obj, stl = tmp_path / "a.obj", tmp_path / "a.stl"
    obj.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n", encoding="utf-8")
    stl.write_bytes(binary_stl(read_mesh(obj)))
    assert read_mesh(stl).tolist() == read_mesh(obj).tolist()


@pytest.mark.parametrize("count", [1, 210_000])
def test_text_files_and_those_with_too_many_faces_are_read_for_the_simulator_as_well(tmp_path, count):
    corners = "vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n", "vertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\n"
    facets = "".join(f"facet normal 0 0 1\nouter loop\n{one}endloop\nendfacet\n" for one in corners)
    path = tmp_path / "a.stl"
    path.write_text(f"solid a\n{facets}endsolid a\n", encoding="utf-8")
    if count > 1:
        path.write_bytes(binary_stl(np.tile(read_mesh(path), (count // 2, 1, 1))))
    link = '<link name="a"><collision><geometry><mesh filename="a.stl"/></geometry></collision></link>'
    (tmp_path / "a.urdf").write_text(f'<robot name="a">{link}</robot>', encoding="utf-8")
    model = urdf_spec(tmp_path / "a.urdf", "a", ())[0].compile()
    assert pdist(model.mesh_vert).max() == pytest.approx(math.sqrt(2.0))


def test_a_link_in_millimetres_is_refused(tmp_path):
    (tmp_path / "a.stl").write_bytes(binary_stl(300.0 * np.eye(3)[None]))
    mesh = '<collision><geometry><mesh filename="a.stl"/></geometry></collision>'
    turns = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
    text = f'<robot name="a"><link name="a">{mesh}</link><link name="b"/>{turns}</robot>'
    with pytest.raises(InputError, match=r"300 m long, in millimetres it seems; .* scale=\"0.001 0.001 0.001\""):
        read_chain(text, "a", "b", lambda name: tmp_path / name)


def test_a_mesh_of_another_kind_is_refused(tmp_path):
    (tmp_path / "a.3ds").write_bytes(b"")
    with pytest.raises(InputError, match="is not an STL, OBJ or COLLADA file"):
        read_mesh(tmp_path / "a.3ds")


def test_a_mesh_may_be_named_by_its_address(tmp_path):
    assert resolve(f"file://{tmp_path}/my%20arm.stl", Path("elsewhere")) == tmp_path / "my arm.stl"
