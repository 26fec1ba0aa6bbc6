"""What was reported about the labeller without a server: bad answers, very few samples, refusals that complain twice, presses that are lost."""
import gc, sys

import numpy as np, pytest
from tsnmf.files import AnswerLog
from tsnmf.trial import Settings, positions, run_once
from tsnmf.widgets import KEYS, SCRIPT, PairLabeller

X = np.random.default_rng(0).normal(size=(40, 3))


@pytest.mark.parametrize('answer, pair', [('same', (0, 400)), ('maybe', (0, 1)), ('same', (2, 2)), ('same', (-1, 2)), ('same', (0, 'x'))])
def test_a_bad_answer_is_refused_before_it_is_written(tmp_path, answer, pair):
    path = tmp_path/'said.csv'
    labeller = PairLabeller(X, 3, path=path)
    labeller.answer('same', (0, 1))
    before = path.read_bytes()
    labeller.answer(answer, pair)
    assert 'That did not work' in labeller.teller.line.value and path.read_bytes() == before
    labeller.answer('different', (0, 2))
    labeller.undo()
    labeller.close()
    assert AnswerLog(path, 40).answers == {(0, 1): 'same'}


@pytest.mark.parametrize('n', [2, 3, 4])
def test_very_few_samples_are_enough(tmp_path, n):
    labeller = PairLabeller(X[:n], 2, path=tmp_path/'said.csv')
    labeller.worker.wait()
    assert len(labeller.labels) == n
    labeller.close()
    assert {P.shape for P in positions(X[:n]).values()} == {(n, 2)}
    assert len(run_once(Settings('own', n, protocol='nothing', n_clusters=2), X[:n]).labels) == n


def test_a_constructor_that_refuses_complains_once(tmp_path, monkeypatch):
    (tmp_path/'said.csv').write_text('i,j,answer,time\n0,400,same,\n')
    ignored = []
    monkeypatch.setattr(sys, 'unraisablehook', ignored.append)
    with pytest.raises(ValueError, match='no sample is called'): PairLabeller(X, 3, path=tmp_path/'said.csv')
    with pytest.raises(ValueError): PairLabeller(X, 3, path=tmp_path/'other.csv', image_shape=(5, 5))
    gc.collect()
    assert not ignored


def test_nothing_is_asked_twice(tmp_path):
    labeller = PairLabeller(X, 3, path=tmp_path/'said.csv')
    labeller.worker.cancel()
    asked = []
    for n in range(60):
        asked.append(tuple(sorted(labeller.pair)))
        labeller.answer(('unsure', 'skip', 'different' if n < 3 else 'skip')[n % 3])
    assert len(set(asked)) == 60
    labeller.ask_again(asked[0])
    assert tuple(sorted(labeller.pair)) == asked[0]
    labeller.close()


MODEL = """async ([script, state]) => {
  const heard = {};
  window.sent = [];
  window.model = {
    state,
    get: name => state[name],
    send: said => sent.push([said.action, said.pair]),
    on: (name, f) => { heard[name] = f; },
    off: () => {},
    ask: (upcoming, gone = []) => { Object.assign(state, { upcoming, gone }); heard["change:upcoming"](); },
  };
  window.key = k => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true }));
  const board = await import("data:text/javascript," + encodeURIComponent(script));
  document.body.innerHTML = "<div class=tsnmf-labeller><div id=board></div></div>";
  board.default.render({ model, el: document.getElementById("board") });
}"""


def question(i, j): return dict(pair=[i, j], shown=[f'sample {i}', f'sample {j}'])


@pytest.fixture
def board(browser):
    "The board in a page without a kernel: what is pressed there is in `sent`, what the kernel says goes through `model.ask`"
    page = browser.new_page()
    state = dict(upcoming=[question(0, 1), question(2, 3), question(4, 5)], gone=[], ended='nothing', actions=KEYS, round=0,
                 buttons=[[action, action, ''] for action in KEYS.values()])
    page.evaluate(MODEL, [SCRIPT, state])
    yield page
    page.close()


def test_the_first_press_counts_however_soon_and_a_key_that_bounces_does_not(board):
    board.evaluate('() => { key("s"); key("s"); key("s") }')  # all within a millisecond of each other
    assert board.evaluate('sent') == [['same', [0, 1]]]
    board.wait_for_timeout(150)
    board.evaluate('key("d")')
    assert board.evaluate('sent') == [['same', [0, 1]], ['different', [2, 3]]]


def test_a_press_counts_by_the_moment_at_which_it_was_made(board):
    late = """t => { const made = new KeyboardEvent("keydown", { key: "d", bubbles: true });
                     Object.defineProperty(made, "timeStamp", { value: t }); document.body.dispatchEvent(made) }"""
    pressed = board.evaluate('() => { key("s"); return performance.now() }')
    board.wait_for_timeout(200)
    board.evaluate(late, pressed - 30)  # made while the first pair was still to be seen, heard of later
    assert board.evaluate('sent') == [['same', [0, 1]]]
    board.evaluate(late, pressed + 150)
    assert board.evaluate('sent') == [['same', [0, 1]], ['different', [2, 3]]]


def test_an_answer_on_its_way_is_not_asked_again_the_other_way_round(board):
    board.evaluate('key("s")')
    board.evaluate('q => model.ask(q)', [question(1, 0), question(3, 2), question(6, 7)])  # sent before the answer came
    board.wait_for_timeout(150)
    board.evaluate('key("d")')  # on 2 and 3, which is still shown
    board.wait_for_timeout(150)
    assert 'sample 6' in board.inner_text('#board')
    board.evaluate('q => model.ask(q, ["6 7"])', [question(8, 9)])  # another page has answered it
    assert 'sample 8' in board.inner_text('#board')
    board.evaluate('key("s")')  # meant for the pair before
    assert len(board.evaluate('sent')) == 2
