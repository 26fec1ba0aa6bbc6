"""What users have reported about files, the command, runs and plots, each as a test that fails without its correction."""
import json, os, resource, signal, subprocess, sys, time
from pathlib import Path

import matplotlib, numpy as np, pandas as pd, pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from tables import BLOBS, CLASSES, in_an_empty_folder, run, write, write_table
from tsnmf import TSNMF, Constraints
from tsnmf.checks import ConstraintError
from tsnmf.cli import main
from tsnmf.constraints import random_pairs
from tsnmf.experiments import reproduce, results_folder
from tsnmf.files import AnswerLog, read_table
from tsnmf.plots import plot_constraints, plot_graph, plot_similarity
from tsnmf.trial import Settings, figure_for, prepare, run_once

matplotlib.use('agg')
WORDS = np.array(['old', 'new', 'other'])[CLASSES]
COMMAND = [sys.executable, '-c', 'from tsnmf.cli import main; main()']


def columns(): return json.loads(Path('labels.json').read_text())['columns']
def label_of(): return dict(line.split(',')[:2] for line in Path('labels.csv').read_text().split()[1:])


def test_decimal_commas_are_read_and_rows_are_not_clustered_by_their_number(run):
    rows = [f'{i};{x:.4f};{y:.4f}'.replace('.', ',') for i, (x, y) in enumerate(BLOBS)]
    write('table.csv', 'nr;a;b', *rows)
    code, said = run('fit', 'table.csv', '-k', 3)
    assert code == 0 and columns() == ['a', 'b'] and 'decimal comma' in said and "'nr' only counts the rows" in said
    np.testing.assert_allclose(read_table('table.csv').X, BLOBS, atol=1e-4)


def test_thousands_are_read_and_what_may_be_either_is_asked(run):
    write('table.csv', 'a;b', *(f'"1,{100 + i}.5";{i % 2}' for i in range(9)))
    assert read_table('table.csv').X[3, 0] == 1103.5
    write('table.csv', 'a;b', *(f'1,{100 + i * 2 % 9};{i % 2}' for i in range(9)))
    code, said = run('fit', 'table.csv', '-k', 2)
    assert code == 2 and '--decimal' in said
    assert read_table('table.csv', decimal=',').X[3, 0] == 1.106 and read_table('table.csv', decimal='.').X[3, 0] == 1106


def test_columns_that_would_be_numbers_with_the_other_sign_are_not_left_out_in_silence(run):
    write('table.csv', 'a;b', *(f'{i % 2}.5;{i % 3},5' for i in range(9)))
    code, said = run('fit', 'table.csv', '-k', 2, '--quiet')
    assert code == 2 and 'would be numbers with a decimal' in said


def test_ids_that_begin_with_one_do_not_shift_the_pairs(run):
    write_table(header='id,a,b', line='{id},{x},{y}')
    write('pairs.csv', '1,2,same', '5,9,different')
    code, said = run('fit', 'table.csv', '-k', 3, '--pairs', 'pairs.csv')
    assert code == 2 and "in column 'id'" in said and '--id id' in said and '--row-numbers' in said and not os.path.exists('labels.csv')
    assert run('fit', 'table.csv', '-k', 3, '--pairs', 'pairs.csv', '--id', 'id')[0] == 0 and columns() == ['a', 'b']
    labels = label_of()
    assert labels['1'] == labels['2'] and labels['5'] != labels['9']
    assert run('fit', 'table.csv', '-k', 3, '--pairs', 'pairs.csv', '--row-numbers', '--force')[0] == 0
    labels = label_of()
    assert labels['1'] == labels['2'] and labels['5'] != labels['9'] and '0' in labels


def test_the_index_of_a_pandas_table_is_asked_about(run):
    frame = pd.DataFrame(BLOBS, columns=['a', 'b'])
    frame[frame.index % 5 > 0].to_csv('table.csv')  # 1, 2, 3, 4, 6 …
    write('pairs.csv', '1,2,same', '6,9,different')
    code, said = run('fit', 'table.csv', '-k', 3, '--pairs', 'pairs.csv')
    assert code == 2 and "in column ''" in said and "--id ''" in said
    assert run('fit', 'table.csv', '-k', 3, '--pairs', 'pairs.csv', '--id', '')[0] == 0 and label_of()['1'] == label_of()['2']


@pytest.mark.parametrize('decoration', [[], ['', '', '']])
def test_an_id_is_no_feature_whatever_stands_above(run, decoration):
    write_table(header='id,a,b', line='{id},{x},{y}', before=decoration)
    code, said = run('fit', 'table.csv', '-k', 3)
    assert code == 0 and columns() == ['a', 'b'] and "'id' only counts the rows" in said
    assert run('fit', 'table.csv', '-k', 3, '--columns', 'id,a,b', '--force')[0] == 0 and columns() == ['id', 'a', 'b']


def test_classes_may_be_words_in_plots_and_trials():
    S = csr_matrix(np.eye(30))
    known = random_pairs(CLASSES, 20, random_state=0)
    assert len(plot_similarity(S, WORDS).lines) == len(plot_similarity(S, CLASSES).lines) == 4
    assert len(plot_constraints(known.matrix(), WORDS).lines) == 4
    assert (plot_constraints(known).images[0].get_array() == plot_constraints(known.matrix()).images[0].get_array()).all()
    plot_graph(BLOBS, S, color=WORDS)
    trial = run_once(Settings('own', amount=20, max_iter=1, n_embeddings=2), BLOBS, WORDS)
    assert figure_for(trial, 'similarity')[0] is not None


@pytest.mark.parametrize('encoding', ['cp1252', 'ascii'])
def test_help_is_written_where_output_is_not_utf8(encoding):
    done = subprocess.run([*COMMAND, 'fit', '--help'], capture_output=True, env={**os.environ, 'PYTHONIOENCODING': encoding})
    assert done.returncode == 0 and not done.stderr and b'--lam L' in done.stdout and b'?' not in done.stdout


def test_a_complaint_is_written_where_output_is_not_utf8():
    write_table()
    write('pairs.csv', '0,1,-1', '0,2,-1', '1,2,-1')
    done = subprocess.run([*COMMAND, 'fit', 'table.csv', '-k', '2', '--pairs', 'pairs.csv'], capture_output=True,
                          env={**os.environ, 'PYTHONIOENCODING': 'ascii'})
    assert done.returncode == 2 and b'too small for the pairs' in done.stderr and b'Traceback' not in done.stderr


def test_out_of_memory_is_a_sentence(tmp_path):
    write('large.csv', 'a,b', *(f'{i % 7}.5,{i % 11}.25' for i in range(1000)))
    hungry = ('import sys, numpy as np; from tsnmf import cli; from unittest.mock import patch\n'
              'with patch.object(cli.TSNMF, "fit", lambda *a, **k: np.ones((10**6, 10**6))): cli.main(sys.argv[1:])')
    done = subprocess.run([sys.executable, '-c', hungry, 'fit', 'large.csv', '-k', '3', '--quiet'], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30,) * 2))
    assert done.returncode == 2 and done.stderr.count('\n') == 1 and 'not enough memory' in done.stderr
    assert os.listdir(tmp_path) == ['large.csv']


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('make', [np.zeros, np.ones])
def test_sparse_samples_that_are_all_alike_are_no_error(make):
    assert len(TSNMF(3, random_state=0).fit(csr_matrix(make((60, 2000)))).labels_) == 60


@pytest.mark.parametrize('own', [pd.DataFrame, lambda X: X.tolist(), csr_matrix])
def test_own_data_in_a_trial_may_be_any_table(own):
    settings = Settings('own', 20, amount=20, max_iter=1, n_embeddings=2)
    expected = run_once(settings, BLOBS, CLASSES)
    trial = run_once(settings, own(BLOBS), pd.Series(CLASSES))
    assert (trial.labels == expected.labels).all() and {P.shape for P in trial.positions.values()} == {(20, 2)}


def test_an_estimator_that_is_not_fitted_says_so():
    for name in 'similarity_', 'constraints_', 'graph_':
        with pytest.raises(NotFittedError, match='not fitted'): getattr(TSNMF(3), name)


def test_an_amount_that_is_no_number_is_refused_in_words():
    with pytest.raises(ValueError, match='amount must be a number'): prepare(Settings('own', amount=np.nan), BLOBS, CLASSES)


@pytest.mark.parametrize('there', ['labels.csv', 'labels.json', 'picture.png'])
def test_files_that_are_there_are_not_overwritten_unasked(run, there):
    write_table()
    write(there, '0,setosa')
    argv = 'fit', 'table.csv', '-k', 3, '--picture', 'picture.png'
    code, said = run(*argv, '--quiet')
    assert code == 2 and f'{there} is already there: --force' in said and Path(there).read_text() == '0,setosa\n'
    assert len(os.listdir()) == 2
    assert run(*argv, '--force')[0] == 0 and Path(there).read_bytes() != b'0,setosa\n'


def test_the_first_line_of_pairs_does_not_vanish(run):
    write_table()
    write('pairs.csv', '100,101,sam', '0,1,1')
    code, said = run('fit', 'table.csv', '-k', 3, '--pairs', 'pairs.csv')
    assert code == 2 and "pairs.csv, line 1: no sample is called '100'" in said
    write('pairs.csv', 'x,y,sam', '0,1,1')
    assert run('fit', 'table.csv', '-k', 3, '--pairs', 'pairs.csv')[0] == 2
    write('pairs.csv', 'one,two,relation', '0,1,1')
    code, said = run('fit', 'table.csv', '-k', 3, '--pairs', 'pairs.csv')
    assert code == 0 and 'names of columns in pairs.csv: one, two, relation' in said


def test_results_are_not_written_into_a_folder_of_somebody_else(tmp_path, monkeypatch):
    for folder in ('results', 'a/b'): (tmp_path/folder).mkdir(parents=True)
    monkeypatch.chdir('a/b')
    assert results_folder() == tmp_path/'a'/'b'/'results'
    (tmp_path/'results'/'printed.csv').touch()
    assert results_folder() == tmp_path/'results'


@pytest.mark.parametrize('wrong', [dict(data=['digits', 'typo']), dict(methods=['ConstraintClosure', 'typo'])])
def test_a_misspelt_name_beside_a_right_one_is_told(tmp_path, wrong):
    with pytest.raises(ValueError, match="is called 'typo'"): reproduce('answers', **wrong, folder=tmp_path, verbose=False)


@pytest.mark.parametrize('argv', [('--samples', -1700, '--pairs', 20), ('--samples', 2000), ('--pairs', -1), ('--output', 'no/demo.png'), ('--output', 'demo.xyz')])
def test_the_demo_refuses_before_it_computes(run, monkeypatch, argv):
    monkeypatch.setattr('tsnmf.cli.random_pairs', None)
    code, said = run('demo', *argv)
    assert code == 2 and str(argv[1]) in said and not os.listdir()


def test_sigterm_leaves_no_files():
    write_table()
    sleepy = ('import sys, time; from tsnmf import cli; from unittest.mock import patch\n'
              'with patch.object(cli.TSNMF, "fit", lambda *a, **k: time.sleep(60)): cli.main(sys.argv[1:])')
    process = subprocess.Popen([sys.executable, '-c', sleepy, 'fit', 'table.csv', '-k', '3', '--quiet'])
    began = time.time()
    while len(os.listdir()) < 3 and time.time() - began < 60: time.sleep(.05)  # the two files are open
    time.sleep(.2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 128 + signal.SIGTERM and os.listdir() == ['table.csv']


def test_column_names_of_mixed_kinds_are_refused_before_the_fit(monkeypatch):
    frame = pd.DataFrame(BLOBS, columns=['a', 63])
    monkeypatch.setattr(TSNMF, '_fit', None)
    with pytest.raises(TypeError, match='string names'): TSNMF(3).fit(frame)


@pytest.mark.parametrize('wrong', [dict(variant='Paper'), dict(lam=-1), dict(init='kmeans'), dict(sigma=np.nan)])
def test_parameters_are_refused_before_the_fit(monkeypatch, wrong):
    monkeypatch.setattr(TSNMF, '_fit', None)
    with pytest.raises(ValueError, match=[*wrong][0]): TSNMF(3, **wrong).fit(BLOBS)


@pytest.mark.parametrize('blank', [0, 3])
def test_line_numbers_count_leading_blank_lines(run, blank):
    write('table.csv', *[''] * blank, 'a,b', '1,2', '3,x', '5,6', '7,1')
    code, said = run('fit', 'table.csv', '-k', 2)
    assert code == 2 and f'line {blank + 3}:' in said
    write_table()
    write('pairs.csv', *[''] * blank, '0,1,perhaps')
    code, said = run('fit', 'table.csv', '-k', 2, '--pairs', 'pairs.csv')
    assert code == 2 and f'line {blank + 1}:' in said


def test_indices_above_a_million_are_printed_in_full():
    with pytest.raises(ConstraintError, match=r'\(0, 2345678\)'): Constraints(2_000_000, [(0, 2345678)])
    with pytest.raises(ConstraintError, match=r'\(1234567, 1999999\)'): Constraints(2_000_000, [(1234567, 1999999)], [(1999999, 1234567)])


@pytest.mark.parametrize('pairs', [{(0, 1)}, zip([0], [1]), {(0, 1): 'same'}.keys(), ((i, i + 1) for i in range(1)),
                                   pd.DataFrame({'i': [0], 'j': [1]}, dtype='Int64'), pd.DataFrame({'i': [0], 'j': [1]}, dtype=object)])
def test_pairs_may_come_in_anything_that_holds_them(pairs): assert Constraints(5, pairs).must_link.tolist() == [[0, 1]]


def test_constraints_in_the_place_of_a_list_are_told_apart():
    with pytest.raises(ConstraintError, match='is a Constraints, which has both lists'): Constraints(5, Constraints(5, [(0, 1)]))


def spreadsheet(path):
    "What a spreadsheet makes of a file: a byte order mark, semicolons, carriage returns, empty cells"
    text = path.read_text().replace(',', ';').replace('\n', ';\r\n')
    path.write_bytes(('\ufeff' + text + ';;;;\r\n').encode())


@pytest.mark.parametrize('saved', [lambda path: None, spreadsheet])
def test_answers_of_the_labeller_are_read_by_everybody(run, tmp_path, saved):
    write_table()
    path = tmp_path/'answers.csv'
    log = AnswerLog(path, 30)
    for answer in [(0, 1, 'same'), (2, 3, 'skip'), (4, 5, 'unsure'), (0, 1, 'different'), (6, 7, 'same')]: log.add(*answer)
    log.undo()
    log.add(8, 9, 'same')
    saved(path)
    assert Constraints.from_file(path, n_samples=30).pairs.tolist() == [[8, 9], [0, 1]]
    code, said = run('fit', 'table.csv', '-k', 3, '--pairs', path)
    assert code == 0 and '30 samples, 1 must-link, 1 cannot-link' in said and '1 skip' in said and '1 unsure' in said
    assert label_of()['0'] != label_of()['1'] and label_of()['8'] == label_of()['9']
    again = AnswerLog(path, 30)
    again.add(10, 11, 'different')
    assert AnswerLog(path, 30).answers == {**log.answers, (10, 11): 'different'}


def test_answers_by_the_ids_of_a_table_give_the_same_by_command_and_python(run, tmp_path):
    write_table(header='name,a,b', line='"x, {i}",{x},{y}')
    table = read_table('table.csv', id_column='name')
    log = AnswerLog(tmp_path/'answers.csv', 30, ids=table.ids)
    for i, j in random_pairs(CLASSES, 15, random_state=0).pairs: log.add(i, j, 'same' if CLASSES[i] == CLASSES[j] else 'different')
    known = Constraints.from_file('answers.csv', ids=table.ids)
    assert (known.pairs == log.known.pairs).all()
    assert run('fit', 'table.csv', '-k', 3, '--id', 'name', '--pairs', 'answers.csv')[0] == 0
    labels = [line.rsplit(',', 2)[1] for line in Path('labels.csv').read_text().splitlines()[1:]]
    assert labels == TSNMF(3, random_state=0).fit((table.X - table.X.mean(axis=0)) / table.X.std(axis=0), known).labels_.astype(str).tolist()


def test_a_chain_of_thousands_makes_a_short_message(run):
    chain = Constraints(3001, [(i, i + 1) for i in range(3000)], [(0, 3000)])
    with pytest.raises(ConstraintError) as refused: chain.closure()
    assert len(str(refused.value)) < 400 and len(refused.value.chains[0]) == 3001
    write('pairs.csv', *(f'{i},{i + 1},same' for i in range(3000)), '0,3000,different')
    with pytest.raises(ConstraintError, match='line 3001') as refused: Constraints.from_file('pairs.csv')
    assert len(str(refused.value)) < 600


def test_ids_that_differ_only_in_unicode_form_are_the_same():
    write_table(header='name,a,b', line='Zo\u00eb {i},{x},{y}')
    write('pairs.csv', 'Zoe\u0308 0,Zo\u00eb 1,same')
    assert Constraints.from_file('pairs.csv', read_table('table.csv', id_column='name').ids).must_link.tolist() == [[0, 1]]


@pytest.mark.parametrize('output', ['.', '..'])
def test_a_folder_for_an_output_is_told(run, output):
    write_table()
    code, said = run('fit', 'table.csv', '-k', 3, '-o', output)
    assert code == 2 and 'is a folder: the name of a file is needed' in said


def test_labels_to_the_standard_output():
    write_table(header='name,a,b', line='\u03bb{i},{x},{y}')
    done = subprocess.run([*COMMAND, 'fit', 'table.csv', '-k', '3', '--id', 'name', '-o', '-', '--quiet'], capture_output=True,
                          env={**os.environ, 'PYTHONIOENCODING': 'ascii'})
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0 and lines[0] == 'id,label,confidence' and len(lines) == 31 and lines[1].startswith('\u03bb0,')
    assert os.listdir() == ['table.csv']


@pytest.mark.parametrize('sign, option', [('|', []), (' ', ['--delimiter', ' '])])
def test_bars_are_found_and_blanks_can_be_said(run, sign, option):
    write_table(header=f'a{sign}b', line='{x:.4f}' + sign + '{y:.4f}')
    if option:
        code, said = run('fit', 'table.csv', '-k', 3)
        assert code == 2 and '--delimiter' in said
    assert run('fit', 'table.csv', '-k', 3, *option)[0] == 0 and columns() == ['a', 'b']


def test_a_header_of_years_has_a_way_out(run):
    write_table(header='2019,2020')
    code, said = run('fit', 'table.csv', '-k', 3)
    assert code == 2 and '--header' in said
    assert run('fit', 'table.csv', '-k', 3, '--header')[0] == 0 and columns() == ['2019', '2020']


@pytest.mark.filterwarnings('error')
def test_cells_of_any_size_are_numbers(run):
    write_table(line='{x:.4f}e300,{y:.4f}e-300')
    assert run('fit', 'table.csv', '-k', 3, '--quiet') == (0, '')
    large = label_of()
    write_table()
    assert run('fit', 'table.csv', '-k', 3, '--quiet', '--force') == (0, '') and label_of() == large


def test_a_reader_that_has_seen_enough_is_no_error():
    read, end = os.pipe()
    os.close(read)
    done = subprocess.run([*COMMAND, 'info'], stdout=end, stderr=subprocess.PIPE, env={**os.environ, 'PYTHONUNBUFFERED': '1'})
    os.close(end)
    assert done.returncode == 141 and not done.stderr


def test_the_progress_bar_ends_full_when_the_labels_settle(capsys):
    TSNMF(3, max_iter=9, random_state=0, verbose=True).fit(BLOBS, random_pairs(CLASSES, 30, random_state=0))
    ends = [part for part in capsys.readouterr().err.replace('\r', '\n').splitlines() if part.startswith('TSNMF')]
    assert '100%' in ends[-1] and '/9' not in ends[-1]


def test_all_mistakes_of_a_file_in_one_run(run):
    write_table()
    write('pairs.csv', '', '0,1,same', '1,0,different', '2,2,same', '3,77,same', '4,5,perhaps', '6', '1,8,same', '0,8,different')
    code, said = run('fit', 'table.csv', '-k', 3, '--pairs', 'pairs.csv', '--quiet')
    *told, advice = said.splitlines()[1:]
    assert code == 2 and [line.split(':')[0].strip() for line in told] == [f'line {i}' for i in (3, 4, 5, 6, 7, 9)]
    assert '--noise auto' in advice
    write('wrong.csv', 'a,b', '1,x', '2', '3,', '4,5', '6,7', '8,9', '9,9')
    code, said = run('fit', 'wrong.csv', '-k', 3, '--quiet')
    assert code == 2 and [line.split(':')[0].strip() for line in said.splitlines()[1:4]] == ['line 2', 'line 3', 'line 4']
    write('many.csv', *(f'{i},{i},same' for i in range(30)))
    code, said = run('fit', 'table.csv', '-k', 3, '--pairs', 'many.csv', '--quiet')
    assert code == 2 and len(said.splitlines()) == 22 and said.splitlines()[-1].strip() == 'and 10 more'


def test_sureness_is_kept_beside_the_pairs():
    from tsnmf.answers import read_answers
    write('pairs.csv', 'i,j,answer,p', '0,1,same,.8', '2,3,different,', '4,5,unsure,')
    said = read_answers('pairs.csv', n_samples=9)
    assert said.p.tolist() == [.8, 1] and said.sign.tolist() == [1, -1] and said.silent == dict(unsure=1)
    write('pairs.csv', 'i,j,answer,p', '0,1,same,.5', '4,5,unsure,.7')
    assert read_answers('pairs.csv', n_samples=9).mistakes.count == 2


def test_missing_values_yes_and_no_and_categories(run):
    rows = [f'{x:.3f},{"yes" if c else "no"},{word}' for (x, _), c, word in zip(BLOBS, CLASSES == 0, WORDS)]
    write('table.csv', 'a,b,c', *rows[:-1], f',yes,{WORDS[-1]}')
    assert run('fit', 'table.csv', '-k', 3)[0] == 2
    for how, n in dict(drop=29, mean=30).items():
        assert run('fit', 'table.csv', '-k', 3, '--missing', how, '--categorical', 'c', '--force')[0] == 0
        assert columns() == ['a', 'b', 'c=new', 'c=old', 'c=other'] and len(label_of()) == n
