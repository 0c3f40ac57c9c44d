"""What the lab's page and server say to each other: messages, frames, the mailbox."""

import threading

import numpy as np
import pytest
from lab_server import setup_message

from broadphase.lab.frames import Kind, Section, decode, drawable, encode
from broadphase.lab.messages import (
    IN_FLIGHT,
    Ack,
    Ask,
    BadMessage,
    Mailbox,
    Play,
    Pointer,
    Setup,
    Show,
    Step,
    parse,
)

A_SETUP = Setup("balls", 40, 1, ("brute_force",), None, None, "")


# ---- messages


@pytest.mark.smaller_set
def test_a_setup_is_read_as_it_was_written():
    text = setup_message(methods=["strips", "auto"], cell_scale=0.5, slots=2, count=100_000)
    assert parse(text) == Setup("balls", 100_000, 1, ("strips", "auto"), 0.5, 2.0, "")
    assert parse('{"type": "ask", "what": "code"}') == Ask("code")


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "JSON"),
        ("[1, 2]", "one JSON object"),
        ("{" * 1000, "JSON"),
        ("[" * 2000, "JSON"),
        ("x" * 3000, "at most 2048 bytes"),
        ('{"type": "shutdown"}', "unknown type"),
        ('{"type": ["setup"]}', "unknown type"),
        ("{}", "unknown type None"),
        (setup_message(count=4), "count must be between 5 and 100000; got 4"),
        (setup_message(count=10**12), "count must be between"),
        (setup_message(count=10**400), "a huge number"),
        (setup_message(count=40.0), "count must be a whole number"),
        (setup_message(count=True), "count must be a whole number"),
        (setup_message(count="40"), "count must be a whole number"),
        (setup_message(seed=-1), "seed must be between"),
        (setup_message(scene="../../etc/passwd"), "scene must be one of"),
        (setup_message(methods=[]), "a list of 1 to 4 names"),
        (setup_message(methods=["strips"] * 5), "a list of 1 to 4 names"),
        (setup_message(methods=["quantum"]), "methods must be among"),
        (setup_message(methods={"strips": 1}), "a list of 1 to 4 names"),
        (setup_message(cell_scale=float("nan")), "NaN is no number here"),
        (setup_message(cell_scale=0), "cell_scale must be between"),
        (setup_message(cell_scale=1e300), "cell_scale must be between"),
        (setup_message(slots=False), "slots must be a number"),
        (setup_message(file="x" * 100), "file must be a short text"),
        (setup_message(extra=1), "setup has no 'extra'"),
        ('{"type": "play", "playing": true, "rate": Infinity}', "Infinity is no number here"),
        ('{"type": "play", "playing": true, "rate": 1e999}', "rate must be between 0.1 and 60; got infinity"),
        ('{"type": "play", "playing": 1, "rate": 60}', "playing must be true or false"),
        ('{"type": "play", "playing": true}', "rate is missing"),
        ('{"type": "pointer", "phase": "grab", "x": 1e16, "y": 0, "reach": 0}', "x must be between"),
        ('{"type": "pointer", "phase": "grab", "x": 0, "y": 0, "reach": -1}', "reach must be between"),
        ('{"type": "pointer", "phase": "punch", "x": 0, "y": 0, "reach": 0}', "phase must be one of"),
        ('{"type": "ack", "frame": -1}', "frame must be between"),
        ('{"type": "growth", "run": true, "methods": ["auto", 3]}', "methods must be among"),
    ],
)
def test_what_is_no_message_is_named(text, said):
    with pytest.raises(BadMessage) as caught:
        parse(text)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 400


# ---- frames


@pytest.mark.smaller_set
def test_frames_are_read_back_unchanged_and_aligned_to_8_bytes():
    sections = [
        Section(Kind.CENTERS, 0, np.array([[1.5, -2], [3, 4]])),
        Section(Kind.STATIC, 0, np.array([True, False, True])),
        Section(Kind.NUMBERS, 3, np.array([1, np.nan, 2, 3, 4, 5e-3])),
        Section(Kind.TESTS, 3, np.empty((0, 2), np.int32)),
        Section(Kind.HELD, 0, np.array([-1])),
    ]
    wire = encode(7, 2**31, 12, sections)
    assert len(wire) % 8 == 0
    frame = decode(wire)
    assert (frame.epoch, frame.frame, frame.serial) == (7, 2**31, 12)
    for section in sections:
        back = frame.get(section.kind, section.lane)
        assert np.array_equal(
            back, section.content.ravel().astype(back.dtype), equal_nan=back.dtype.kind == "f"
        )
    assert frame.get(Kind.CELLS) is None
    with pytest.raises(ValueError, match="no frame"):
        decode(b"nope" + wire[4:])


@pytest.mark.smaller_set
def test_what_is_drawn_is_always_finite():
    values = drawable(np.array([np.inf, -np.inf, np.nan, 1e300, -1e39, 5.0]))
    assert values.dtype == np.float32
    assert np.isfinite(values).all()
    assert values[-1] == 5


# ---- the mailbox


def begun() -> Mailbox:
    mail = Mailbox()
    mail.put(A_SETUP)
    assert mail.take_setup() == A_SETUP
    return mail


@pytest.mark.smaller_set
def test_of_several_wishes_only_the_latest_is_obeyed():
    mail = Mailbox()
    for seed in range(100):
        mail.put(parse(setup_message(seed=seed)))
    assert mail.take_setup().seed == 99
    assert mail.take_setup() is None


@pytest.mark.smaller_set
def test_drags_are_merged_and_the_grab_before_them_is_not_lost():
    mail = begun()
    mail.put(Pointer("grab", 1, 1, 0))
    for x in range(500):
        mail.put(Pointer("drag", x, 0, 0))
    mail.put(Pointer("release", 9, 9, 0))
    assert [(pointer.phase, pointer.x) for pointer in mail.take_pointers()] == [
        ("grab", 1),
        ("drag", 499),
        ("release", 9),
    ]
    for _ in range(1000):
        mail.put(Pointer("grab", 1, 1, 0))
        mail.put(Pointer("release", 1, 1, 0))
        mail.put(Step())
    assert len(mail.take_pointers()) <= 16


@pytest.mark.smaller_set
def test_at_most_two_frames_are_in_flight():
    mail = begun()
    sent = []
    while mail.may_draw():
        sent.append(mail.next_serial())
        mail.has_left()
    assert len(sent) == IN_FLIGHT == 2
    mail.put(Ack(sent[0]))
    assert mail.may_draw()
    mail.next_serial()
    # Acknowledged at once, but not yet handed to the network: that counts as much.
    mail.put(Ack(3))
    mail.next_serial()
    assert not mail.may_draw()
    mail.put(Ack(4))
    assert not mail.may_draw()
    mail.has_left()
    assert mail.may_draw()
    with pytest.raises(BadMessage, match="never sent"):
        mail.put(Ack(5))


@pytest.mark.smaller_set
def test_steps_come_one_by_one_and_pause():
    mail = begun()
    mail.put(Play(playing=False, rate=60))
    assert not mail.take_frame()
    mail.put(Step())
    mail.put(Step())
    assert [mail.take_frame() for _ in range(3)] == [True, True, False]


@pytest.mark.smaller_set
def test_what_comes_before_the_first_setup_is_not_lost():
    mail = Mailbox()
    mail.put(Play(playing=True, rate=60))
    mail.put(Show(tests=False, structure=True))
    waiting = threading.Thread(target=mail.wait)
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    mail.put(A_SETUP)
    waiting.join(30)
    assert not waiting.is_alive()
    assert mail.take_setup() == A_SETUP
    assert mail.take_frame()
    assert mail.show == Show(tests=False, structure=True)


@pytest.mark.smaller_set
def test_waiting_threads_are_woken_at_the_end():
    mail = Mailbox()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(mail.wait()))
    thread.start()
    mail.close()
    thread.join(30)
    assert answers == [False]
