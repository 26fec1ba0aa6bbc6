"""The other halves of reports that have a test elsewhere: what is nearly the same, and broke in the same way."""
import gc, sys, warnings

import numpy as np, pandas as pd, pytest
from scipy.sparse import csr_matrix
from tables import BLOBS, CLASSES, in_an_empty_folder, run, write, write_table
from tsnmf import TSNMF, Constraints
from tsnmf.baselines import GSNMF, SNMF, ConstraintClosure
from tsnmf.checks import ConstraintError, ConstraintWarning
from tsnmf.cli import main
from tsnmf.constraints import random_pairs
from tsnmf.experiments import reproduce
from tsnmf.files import read_table
from tsnmf.metrics import constraint_satisfaction
from tsnmf.partition import in_tiles
from tsnmf.trial import Settings, run_once
from tsnmf.widgets import Explorer, PairLabeller, Teller

@pytest.fixture
def refused(run):
    "Runs `tsnmf`, which should refuse, and returns what it says"
    def command(*argv):
        code, said = run(*argv)
        assert code == 2
        return said
    return command


def test_ids_that_are_no_row_numbers_are_asked_about(refused):
    write_table(header='key,a,b', line='{i}01,{x},{y}')
    write('pairs.csv', '1901,2001,same', '501,901,different')
    said = refused('fit', 'table.csv', '-k', 3, '--pairs', 'pairs.csv')
    assert "4 are in column 'key' and 0 are row numbers" in said and '--id key' in said


@pytest.mark.parametrize('partial', [
    [0, 1, 0] + [None] * 27, [0, 1, 0] + [pd.NA] * 27, pd.Series([0, 1, 0] + [None] * 27, dtype='Int64'),
    *(pd.Series(['a', 'b', 'a'] + [None] * 27, dtype=dtype) for dtype in (object, 'string', 'category'))])
def test_missing_labels_of_any_kind_are_unknown(partial):
    known = Constraints.from_labels(partial)
    assert known.must_link.tolist() == [[0, 2]] and known.cannot_link.tolist() == [[0, 1], [1, 2]]
    labels = TSNMF(3, max_iter=1, n_embeddings=1, random_state=0).fit_predict(BLOBS, partial)
    assert labels[0] == labels[2] != labels[1]


def with_a_gap(X):
    "Samples of which one has a missing value"
    return np.where(np.arange(X.size).reshape(X.shape) == 3, np.nan, X)


def test_samples_that_the_labeller_refuses_are_refused_once(tmp_path, monkeypatch):
    ignored = []
    monkeypatch.setattr(sys, 'unraisablehook', ignored.append)
    with pytest.raises(ValueError): PairLabeller(with_a_gap(BLOBS), 3, path=tmp_path/'said.csv')
    gc.collect()
    assert not ignored and not (tmp_path/'said.csv').exists()


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('make', [np.zeros, np.ones])
def test_pairs_of_sparse_samples_that_are_all_alike_are_kept(make):
    known = random_pairs(CLASSES, 30, random_state=0)
    labels = TSNMF(3, random_state=0).fit_predict(csr_matrix(make((30, 2000))), known)
    assert known.satisfaction(labels) == 1


@pytest.mark.parametrize('estimator', [SNMF, GSNMF, ConstraintClosure])
def test_baselines_refuse_a_width_that_is_no_number(estimator):
    with pytest.raises(ValueError, match='sigma'): estimator(3, sigma=np.nan).fit(BLOBS)


def test_the_index_of_a_frame_does_not_matter_in_a_trial():
    settings = Settings('own', 20, amount=20, max_iter=1, n_embeddings=2)
    trial = run_once(settings, pd.DataFrame(BLOBS, index=range(100, 130)), pd.Series(CLASSES, index=range(50, 80)))
    assert (trial.labels == run_once(settings, BLOBS, CLASSES).labels).all()


def test_line_numbers_count_cells_of_many_lines_and_a_header_of_pairs(refused):
    write('table.csv', '', 'a,b', '1,2', '"3', '",4', '5,x', '6,7')
    assert 'table.csv, line 6:' in refused('fit', 'table.csv', '-k', 2)
    write_table()
    write('pairs.csv', '', '', 'one,two,relation', '0,1,same', '0,x,same')
    assert 'pairs.csv, line 5:' in refused('fit', 'table.csv', '-k', 3, '--pairs', 'pairs.csv')


def test_large_indices_are_printed_in_full_wherever_they_stand():
    with pytest.raises(ConstraintError, match=r'\(-1234567, 5\)'): Constraints(2_000_000, [(-1234567, 5)])
    chain = Constraints(2_000_000, [(1234567, 1999999), (1999999, 1888888)], [(1234567, 1888888)])
    with pytest.raises(ConstraintError, match='1234567–1999999–1888888'): chain.closure()


def test_satisfaction_takes_constraints_and_whatever_holds_pairs():
    known = random_pairs(CLASSES, 20, random_state=0)
    labels = np.roll(CLASSES, 1)
    expected = constraint_satisfaction(labels, *known)
    assert 0 < expected < 1 and constraint_satisfaction(labels, known) == expected
    assert constraint_satisfaction(labels, *({*map(tuple, pairs)} for pairs in known)) == expected


@pytest.mark.parametrize('make', [set, iter, lambda pairs: pd.DataFrame(pairs, dtype='Int64'), lambda pairs: Constraints(30, pairs)])
def test_a_fit_takes_whatever_holds_pairs(make):
    model = TSNMF(3, max_iter=1, n_embeddings=1, random_state=0)
    labels = model.fit_predict(BLOBS, must_link=make([(0, 1), (2, 3)]), cannot_link={(0, 2)})
    assert labels[0] == labels[1] != labels[2] == labels[3]


def test_hundreds_that_are_all_different_make_a_short_message():
    X = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.raises(ConstraintError, match='too small for the pairs') as refusal:
        TSNMF(2).fit(X, cannot_link=np.transpose(np.triu_indices(200, 1)))
    assert len(str(refusal.value)) < 400


def test_an_id_is_found_and_used_once_in_either_unicode_form(refused):
    write_table(header='name,a,b', line='Zoe\u0308 {i},{x},{y}')
    write('pairs.csv', 'Zo\u00eb 0,Zoe\u0308 1,same')
    assert Constraints.from_file('pairs.csv', read_table('table.csv', id_column='name').ids).must_link.tolist() == [[0, 1]]
    write('table.csv', 'name,a,b', 'Zo\u00eb,1,2', 'Zoe\u0308,2,3')
    assert 'table.csv, line 3:' in refused('fit', 'table.csv', '-k', 2, '--id', 'name')


def test_columns_are_found_in_either_unicode_form(capsys):
    write_table(header='Zoe\u0308,b')
    main(['fit', 'table.csv', '-k', '3', '--columns', 'Zo\u00eb', '-o', '-'])
    assert capsys.readouterr().out.startswith('id,label')


def test_ids_in_any_order_are_asked_about(refused):
    write('table.csv', 'key,a,b', *(f'{1 + 7 * i % 30},{x},{y}' for i, (x, y) in enumerate(BLOBS)))
    write('pairs.csv', '1,2,same', '5,9,different')
    assert '--id key' in refused('fit', 'table.csv', '-k', 3, '--pairs', 'pairs.csv')


def test_a_complaint_goes_when_it_works_again():
    teller = Teller()
    with teller.telling(again=True): raise ValueError('no')
    with teller.telling(): pass
    assert 'did not work' in teller.line.value
    with teller.telling(again=True): pass
    assert teller.line.value == ''
    teller.complain('a run failed')
    with teller.telling(again=True): pass
    assert 'a run failed' in teller.line.value


def test_sparse_samples_in_a_trial_without_pairs_and_in_widgets(tmp_path):
    X = csr_matrix(abs(BLOBS))
    assert len(run_once(Settings('own', protocol='nothing', n_clusters=3, max_iter=1, n_embeddings=2), X).labels) == 30
    assert PairLabeller(X, 3, path=tmp_path/'said.csv').X.shape == (30, 2)
    assert Explorer(X, CLASSES, start=False).own[0] is X
    with pytest.raises(ValueError, match='for each of the 30 samples, got 7'): Explorer(X, CLASSES[:7], start=False)


def test_classes_of_which_some_are_none_can_be_sorted():
    assert in_tiles(4, 2, np.array(['b', None, 'b', None], dtype=object)).of.tolist() == [1, 0, 1, 0]


def test_samples_that_are_similar_to_none_of_the_fit_are_told():
    S = np.kron(np.eye(2), np.ones((5, 5)))
    model = TSNMF(2, affinity='precomputed', random_state=0).fit(S)
    with pytest.warns(ConstraintWarning, match='1 of the samples'): model.predict(csr_matrix((1, 10)))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert (model.predict(S) == model.labels_).all()


def test_a_misspelt_name_leaves_nothing_behind(tmp_path):
    with pytest.raises(ValueError, match="nothing of answers is called 'typo':"): reproduce('answers', data=['typo'], methods=['typo'], folder=tmp_path/'new')
    assert not (tmp_path/'new').exists()
