"""Messages come with the identity of their publisher, whatever rclpy hands on."""

from __future__ import annotations

import time

import pytest
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from std_msgs.msg import String

from llm_planner.ros.base_node import RELIABLE
from llm_planner.ros.sender_identity import backlog, publisher_gid, publisher_name, take


@pytest.fixture
def talk(here):
    """A listener, its subscription, what its callback got, and the publishers of two other nodes on the same topic."""
    listener, *talkers = (Node(name, context=here.context) for name in ("listener", "ada", "bob"))
    heard = []
    subscription = listener.create_subscription(String, "talk", lambda message, info: heard.append((message, info)), 10)
    publishers = [node.create_publisher(String, "talk", RELIABLE) for node in talkers]
    here.add(listener, *talkers)
    assert here.spin(lambda: all(one.get_subscription_count() for one in publishers))
    return listener, subscription, heard, publishers


def test_a_callback_learns_which_node_published(here, talk):
    listener, _, heard, publishers = talk
    for publisher in publishers:
        publisher.publish(String(data=publisher.topic))
    assert here.spin(lambda: len(heard) == 2)
    names = {publisher_name(listener, "talk", publisher_gid(info)) for _, info in heard}
    assert names == {"/ada", "/bob"}
    assert [info["publication_sequence_number"] for _, info in heard] == [1, 1]


def test_what_waits_is_taken_oldest_first_and_no_more_than_asked_for(talk):
    _, subscription, _, (ada, _) = talk
    for word in "abc":
        ada.publish(String(data=word))
    taken, deadline = [], time.monotonic() + 20.0
    while len(taken) < 2 and time.monotonic() < deadline:  # not spun, which would take them too
        taken.extend(backlog(subscription, 2 - len(taken)))
    assert [message.data for message, _ in taken] == ["a", "b"]
    assert all(publisher_gid(info) for _, info in taken)


def test_bytes_that_are_no_message_of_the_type_are_dropped(here, talk):
    _, _, heard, (ada, _) = talk
    ada.publish(b"\x00\x01\x00\x00\xff\xff\xff\x7fabc")
    ada.publish(String(data="readable"))
    assert here.spin(lambda: bool(heard))
    assert [message.data for message, _ in heard] == ["readable"]


def test_nothing_is_taken_from_a_destroyed_subscription(talk):
    listener, subscription, _, _ = talk
    listener.destroy_subscription(subscription)
    with pytest.raises(InvalidHandle):
        take(subscription)
