"""`make app`, `tsnmf label` and JupyterLab in a real browser: by mouse and by keyboard, with one's own data, and with nothing from elsewhere."""
import csv, io, json, os, re, signal, socket, subprocess, sys, threading, time, urllib.error, urllib.request, zipfile
from dataclasses import dataclass, field

import numpy as np, psutil, pytest

PATIENCE = int(os.environ.get('TSNMF_PATIENCE', 180_000))  # milliseconds, on a busy machine
COMMAND = [sys.executable, '-c', 'from tsnmf.cli import main; main()']


@dataclass
class Served:
    "A server that runs, its address with and without the token, and what it says"
    process: subprocess.Popen
    url: str
    said: list = field(default_factory=list)

    @property
    def base(self): return self.url.partition('?')[0]
    @property
    def children(self): return psutil.Process(self.process.pid).children(recursive=True)

    def kernels(self):
        "How many kernels are alive"
        def is_kernel(process):
            try: return 'ipykernel_launcher' in process.cmdline()
            except psutil.Error: return False
        return sum(map(is_kernel, self.children))

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)


def free_port():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        return free.getsockname()[1]


def serve(command, cwd, **environ):
    "Start a server and read its address from what it says"
    process = subprocess.Popen(command, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **environ},
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # tests may run where Ctrl-C is ignored, in the background
    said = []
    for line in process.stdout:
        said.append(line)
        if found := re.search(r'http://(127\.0\.0\.1|localhost):\d+/\S*\?token=\w+', line):
            threading.Thread(target=lambda: [said.append(line) for line in process.stdout], daemon=True).start()
            return Served(process, found[0], said)
    pytest.fail(''.join(said))


def serve_app(root, folder): return serve([sys.executable, root/'tools'/'app.py', f'--port={free_port()}', '--no-browser'], folder)
def serve_label(folder, *args): return serve([*COMMAND, 'label', *args, f'--port={free_port()}', '--no-browser'], folder)


@pytest.fixture(scope='module')
def app(root, browser, tmp_path_factory):
    "The pages of `make app`"
    served = serve_app(root, tmp_path_factory.mktemp('app'))
    yield served
    served.stop()


@pytest.fixture
def visit(browser):
    "Opens a page of a server in a browser of its own, and notes what it tries to load from elsewhere"
    contexts, outside = [], []
    def visit(served, name='', width=1280):
        context = browser.new_context(viewport=dict(width=width, height=900))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.route(lambda u: not u.startswith((served.base, 'data:', 'blob:')), lambda route: (outside.append(route.request.url), route.abort()))
        page.goto(served.url)
        if name: page.goto(f'{served.base}voila/render/{name}.ipynb')
        return page
    yield visit
    for context in contexts: context.close()
    assert not outside


@pytest.fixture
def explorer(visit, app):
    page = visit(app)
    page.get_by_text('Same or different? Two samples at a time').wait_for()  # the list says what each page is for
    page.get_by_role('link', name='explorer').click()
    page.get_by_text(re.compile(r'ACC \d\.\d{3}')).wait_for()  # it begins with a run
    return page


def run(page, **fields):
    "Fill in fields and press Run"
    for name, value in fields.items():
        field = page.get_by_label(name, exact=True)
        if field.evaluate('e => e.tagName') == 'SELECT': field.select_option(value)
        else: field.fill(value)
        field.press('Tab')
    page.get_by_role('button', name='Run', exact=True).click()


def choose(page, button, path):
    "Choose a file"
    with page.expect_file_chooser() as chooser: page.get_by_role('button', name=button).click()
    chooser.value.set_files(path)


def is_grey(page): return page.locator('.tsnmf-old').count() > 0
def fits(page): return page.evaluate('document.documentElement.scrollWidth <= innerWidth')


CUT = """() => {
  const ink = document.createElement("canvas").getContext("2d");
  const room = e => { const s = getComputedStyle(e); ink.font = s.font; return e.clientWidth - parseFloat(s.paddingLeft) - parseFloat(s.paddingRight) };
  const fields = [...document.querySelectorAll("select, input:not([type=file], [type=checkbox])")].filter(e => e.offsetWidth);
  const words = e => e.tagName == "SELECT" ? e.selectedOptions[0]?.text ?? "" : e.value || e.placeholder;
  return fields.filter(e => ink.measureText(words(e)).width > room(e)).map(words);
}"""
def cut(page): return page.evaluate(CUT)  # words that are longer than their field


def test_a_run_can_be_watched_and_taken_along(explorer, tmp_path):
    explorer.locator('img[alt^="Similarity matrix"]').wait_for()
    assert not is_grey(explorer)
    explorer.get_by_label('data', exact=True).select_option('iris')
    explorer.locator('.tsnmf-old').wait_for()
    run(explorer, amount='60')
    explorer.locator('img[alt*="samples of iris"]').wait_for()
    assert not is_grey(explorer)
    assert float(re.search(r'ACC ([\d.]+)', explorer.inner_text('[role=status]'))[1]) > .8
    matrix = lambda: explorer.get_attribute('img[alt^="Similarity matrix"]', 'src')
    last, slider = matrix(), explorer.locator('.noUi-handle')
    slider.focus()
    slider.press('Home')
    explorer.locator('img[alt^="Similarity matrix, outer iteration 0"]').wait_for()
    assert matrix() != last
    with explorer.expect_download() as download: explorer.get_by_text('save this figure').click()
    assert download.value.path().read_bytes()[1:4] == b'PNG'
    for view, alt in dict(embedding='Samples in the plane', convergence='Objective', weights='Weights').items():
        explorer.get_by_role('button', name=view).click()
        explorer.locator(f'img[alt^="{alt}"]').wait_for()
    explorer.get_by_role('button', name='committee').click()
    explorer.get_by_text('tells about unseen answers').wait_for()
    explorer.get_by_role('button', name='runs').click()
    explorer.locator('tr').nth(2).wait_for()  # below the header
    explorer.get_by_role('button', name='code').click()
    explorer.locator('textarea').wait_for()
    code = explorer.locator('textarea').input_value()
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, cwd=tmp_path)
    assert f'ACC {float(done.stdout):.3f}' in explorer.inner_text('[role=status]'), done.stderr


def test_cancelled_wrong_and_by_the_tab_key(explorer):
    run(explorer, data='digits', **{'samples, at most': '1797'})
    explorer.get_by_text('running').wait_for()
    explorer.get_by_role('button', name='Cancel').click()
    explorer.get_by_text('cancelled').wait_for()
    run(explorer, data='iris', method='ConstraintClosure')
    explorer.locator('img[alt*="samples of iris"]').wait_for()
    run(explorer, method='TSNMF', **{'λ': '-1'})
    explorer.get_by_role('alert').wait_for()
    assert 'lam == -1.0, must be > 0' in explorer.get_by_role('alert').inner_text()
    explorer.locator('.tsnmf-wrong').wait_for()
    run(explorer, **{'λ': 'much'})
    explorer.get_by_role('alert').filter(has_text='λ must be a number, or "auto"').wait_for()
    explorer.get_by_label('λ', exact=True).fill('auto')
    explorer.get_by_label('λ', exact=True).press('Tab')
    explorer.get_by_role('alert').wait_for(state='hidden')
    assert not explorer.locator('.tsnmf-wrong').count()
    explorer.get_by_label('data', exact=True).focus()
    reached = set()
    for _ in range(40):
        reached.add(explorer.evaluate('''() => { const e = document.activeElement;
            return e.labels?.length ? e.labels[0].innerText : e.getAttribute("role") == "slider" ? "slider" : e.innerText }'''))
        explorer.keyboard.press('Tab')
    assert reached >= {'data', 'method', 'λ', 'seed', 'Run', 'similarity', 'embedding', 'code', 'slider', 'save this figure'}, reached
    explorer.get_by_role('button', name='embedding').focus()
    explorer.keyboard.press('Enter')
    explorer.locator('img[alt^="Samples in the plane"]').wait_for()


def test_the_explorer_takes_a_table_and_fits_every_window(explorer, tmp_path):
    rng = np.random.default_rng(0)
    rows = [f'{a:.2f},{b:.2f},kind {i % 3}' for i, (a, b) in enumerate(rng.normal(size=(90, 2)) + np.arange(90)[:, None] % 3 * 6)]
    (tmp_path/'mine.csv').write_text('\n'.join(['a,b,kind', *rows]))
    choose(explorer, 'A file of your own', tmp_path/'mine.csv')
    explorer.get_by_text('mine.csv: 90 samples, 2 columns: a, b').wait_for()
    explorer.get_by_label('classes', exact=True).select_option('kind')
    run(explorer, amount='30')
    explorer.locator('img[alt*="90 samples of own"]').wait_for()
    assert float(re.search(r'ACC ([\d.]+)', explorer.inner_text('[role=status]'))[1]) > .9
    for width in (1920, 1280, 390):
        explorer.set_viewport_size(dict(width=width, height=900))
        for view in ('embedding', 'runs', 'similarity'):
            explorer.get_by_role('button', name=view).click()
            explorer.wait_for_timeout(300)
            assert fits(explorer) and not cut(explorer), (width, view, cut(explorer))
        explorer.screenshot(path=tmp_path/f'explorer-{width}.png', full_page=True)


# --- the labeller

def shown(page): return re.findall(r'sample (\S+)', page.locator('.tsnmf-labeller [data-action]').first.locator('xpath=../..').inner_text())


def answer(page, same, n, pause):
    "Answer by keys, one every `pause` seconds, whatever the machine does; returns what was said"
    began, said = time.perf_counter(), []
    for count in range(1, n + 1):
        i, j = shown(page)[:2]
        word = 'same' if same(i, j) else 'different'
        page.keyboard.press(word[0])
        said.append((i, j, word))
        time.sleep(max(.15, began + count * pause - time.perf_counter()))  # nobody sees and decides faster
    page.get_by_text(f'{n} answers', exact=True).wait_for()
    return said


def take_home(page):
    "What the finish line offers, by name"
    page.get_by_role('button', name='Finish').click()
    page.get_by_text('To take home').wait_for()
    files = {}
    for name in ('labels.csv', 'answers.csv', 'clusters.png', 'again.py'):
        with page.expect_download() as download: page.get_by_role('link', name=name).click()
        files[name] = download.value.path().read_bytes()
    files['command'] = page.locator('.tsnmf-labeller pre').first.inner_text()
    return files


def read(file): return [(row['i'], row['j'], row['answer']) for row in csv.DictReader(io.StringIO(file.decode()))]


def check_repeats(files, folder):
    "The command and the code give the labels that were downloaded, with the answers that were"
    (folder/'answers.csv').write_bytes(files['answers.csv'])
    argv = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", files['command'])][1:]
    done = subprocess.run([*COMMAND, *argv, '-o', '-', '--quiet'], cwd=folder, capture_output=True)
    assert done.stdout == files['labels.csv'], done.stderr
    (folder/'labels.csv').unlink(missing_ok=True)
    subprocess.run([sys.executable, '-c', files['again.py'].decode()], cwd=folder, check=True)
    assert (folder/'labels.csv').read_bytes() == files['labels.csv']


def test_a_table_is_uploaded_answered_quickly_and_taken_home(app, visit, tmp_path):
    rng = np.random.default_rng(0)
    def row(i):
        cells = [f'{x:.3f}' for x in rng.normal(size=4) + 5 * np.eye(4)[i % 4]]
        if i % 97 == 0: cells[1] = ''
        return ','.join([f'p{i}', f'"a remark, number {i % 7}"', *cells])
    (tmp_path/'my people.csv').write_text('\n'.join(['who,remark,a,b,c,d', *map(row, range(2000))]))
    page = visit(app, 'labeller')
    choose(page, 'Choose a file', tmp_path/'my people.csv')
    page.get_by_text('2000 samples, 4 columns: a, b, c, d').wait_for()
    for words in ('left out: remark', '21 of 2000 rows have missing values'): page.get_by_text(words).wait_for()
    assert fits(page) and not cut(page), cut(page)
    page.get_by_label('clusters', exact=True).fill('4')
    page.get_by_role('button', name='Begin').click()
    page.get_by_role('button', name='Same').wait_for()
    said = answer(page, lambda i, j: (int(i[1:]) - int(j[1:])) % 4 == 0, 30, .5)
    assert len({frozenset(pair[:2]) for pair in said}) == 30  # nothing was asked twice
    files = take_home(page)
    assert read(files['answers.csv']) == said  # not one press was lost
    assert files['clusters.png'][1:4] == b'PNG' and len(files['labels.csv'].splitlines()) == 2001
    check_repeats(files, tmp_path)
    for width in (1920, 1280, 390):
        page.set_viewport_size(dict(width=width, height=900))
        page.wait_for_timeout(300)
        assert fits(page), width
        page.screenshot(path=tmp_path/f'labeller-{width}.png', full_page=True)


def test_pictures_are_labelled(visit, tmp_path, root):
    from PIL import Image
    from sklearn.datasets import load_digits
    digits = load_digits()
    folder = tmp_path/'digits'
    folder.mkdir()
    for i in range(500): Image.fromarray((255 - digits.images[i] * 15).astype(np.uint8)).save(folder/f'{i}.png')
    (folder/'words.png').write_text('not a picture')
    served = serve_label(tmp_path, '--images', folder, '-k', '10')
    try:
        assert any('not used: words.png' in line for line in served.said)
        page = visit(served)
        page.get_by_role('button', name='Same').wait_for()
        said = answer(page, lambda i, j: digits.target[int(i[:-4])] == digits.target[int(j[:-4])], 30, .25)
        files = take_home(page)
        assert read(files['answers.csv']) == said == read((tmp_path/'answers.csv').read_bytes())
        check_repeats(files, tmp_path)
    finally: served.stop()


TOPICS = ('goal match team player league striker', 'rain sun cloud storm wind snow', 'bread flour oven salt butter yeast',
          'court judge law verdict trial jury')


def test_texts_are_labelled_in_two_browsers_that_a_crash_does_not_hurt(root, visit, tmp_path):
    rng = np.random.default_rng(0)
    texts = [' '.join(rng.choice(TOPICS[i % 4].split(), 4)) + ' ' + ' '.join(rng.choice(['the', 'a', 'of', 'some', 'very', 'old'], 4)) for i in range(1000)]
    (tmp_path/'texts.csv').write_text('\n'.join(['nr,text', *(f't{i},{text}' for i, text in enumerate(texts))]))
    served = serve_app(root, tmp_path)
    one = visit(served, 'labeller')
    choose(one, 'Choose a file', tmp_path/'texts.csv')
    one.get_by_text("1000 texts in column 'text'").wait_for()
    one.get_by_label('clusters', exact=True).fill('4')
    one.get_by_role('button', name='Begin').click()
    one.get_by_role('button', name='Same').wait_for()
    other = visit(served, 'labeller')
    other.get_by_role('button', name='Or try it').click()
    other.get_by_role('button', name='Same').wait_for()
    said = answer(one, lambda i, j: (int(i[1:]) - int(j[1:])) % 4 == 0, 30, .25)
    other.get_by_text('0 answers', exact=True).wait_for()  # one does not see what the other says
    files = take_home(one)
    assert read(files['answers.csv']) == said
    assert {'1', '2'} < {line.split(b',')[1].decode() for line in files['labels.csv'].splitlines()}
    check_repeats(files, tmp_path)
    key = re.search(r'session=([\w-]+)', one.url)[1]
    one.keyboard.press('s')
    one.get_by_text('31 answers', exact=True).wait_for()
    children = served.children
    served.process.kill()
    _, alive = psutil.wait_procs(children, timeout=60)
    assert not alive
    again = serve_app(root, tmp_path)
    try:
        page = visit(again)
        page.goto(f'{again.base}voila/render/labeller.ipynb?session={key}')
        page.get_by_text('31 answers', exact=True).wait_for()
    finally: again.stop()


def test_answers_by_button_and_key_are_found_again(app, visit):
    page = visit(app, 'labeller')
    page.get_by_role('button', name='Or try it').click()
    page.get_by_text('0 answers', exact=True).wait_for()
    for n in range(1, 7):
        before = shown(page)
        page.wait_for_timeout(200)  # a press right after a new pair counts for the one before
        if n <= 3: page.get_by_role('button', name=('Same', 'Different')[n % 2]).click()
        else: page.keyboard.press('sd'[n % 2])
        assert shown(page) != before  # at once, whatever the kernel does
    page.get_by_text('6 answers', exact=True).wait_for()
    page.set_viewport_size(dict(width=390, height=900))
    one, other = (picture.bounding_box() for picture in page.locator('.tsnmf-labeller img[alt^="sample"]').all()[:2])
    assert one['y'] == other['y'] and fits(page)  # to compare them, one has to see both
    taken_back = before
    page.keyboard.press('u')
    page.get_by_text('5 answers', exact=True).wait_for()
    page.wait_for_function('() => !document.querySelector("[data-action=same]").disabled')
    assert sorted(shown(page)) == sorted(taken_back)
    for key in 'f ':
        page.wait_for_timeout(200)
        page.keyboard.press(key)
    page.get_by_text('1 unsure, 1 skipped').wait_for()
    page.reload()
    page.get_by_text('5 answers', exact=True).wait_for()
    page.get_by_text('1 unsure, 1 skipped').wait_for()
    page.get_by_role('button', name='Ask the skipped again').click()
    page.get_by_text('Asked again, on purpose').wait_for()
    page.locator('img[alt="The clusters so far"]').wait_for()


def test_a_strangers_zip_file_is_refused_in_words(app, visit, tmp_path):
    def packed(name, files):
        with zipfile.ZipFile(tmp_path/name, 'w') as file:
            for inside, content in files: file.writestr(inside, content)
        return tmp_path/name
    def told(path, words):
        choose(page, 'Choose a file', path)
        page.locator('[role=alert], li').filter(has_text=words).first.wait_for()
    from PIL import Image
    picture = io.BytesIO()
    Image.new('L', (9, 9)).save(picture, 'PNG')
    good = [(f'{i}.png', picture.getvalue()) for i in range(3)]
    page = visit(app, 'labeller')
    told(packed('evil.zip', [*good, ('../evil.png', picture.getvalue())]), '../evil.png leads out of the folder')
    told(packed('text.zip', [*good, ('words.png', b'text')]), 'words.png is not a picture')
    told(packed('many.zip', [(f'{i}.png', b'') for i in range(100_000)]), 'there are 100000 files in it')
    told(packed('other.exe', good), 'a table (.csv, .tsv, .txt) or a zip file')
    with open(tmp_path/'huge.csv', 'wb') as file: file.truncate(201 * 2**20)  # the server would hang up
    told(tmp_path/'huge.csv', 'huge.csv has 201 MB, and 200 MB is the most')
    told(packed('text.zip', [*good, ('words.png', b'text')]), 'words.png is not a picture')  # the page still listens
    assert not [*tmp_path.parent.rglob('evil.png')]


def test_without_the_token_nothing_is_shown(app):
    for path in ('', 'voila/render/explorer.ipynb', 'voila/tree'):
        answer = urllib.request.urlopen(app.base + path)
        assert '/login' in answer.url and not re.search('Interactive experiments|jupyter-config-data', answer.read().decode())
    with pytest.raises(urllib.error.HTTPError, match='403'): urllib.request.urlopen(app.base + 'api/kernels/0-0-0-0-0')
    port = int(app.base.rstrip('/').rpartition(':')[2])
    addresses = {address for c in psutil.Process(app.process.pid).net_connections() if c.status == 'LISTEN' and c.laddr.port == port for address in [c.laddr.ip]}
    assert addresses == {'127.0.0.1'}


def test_pages_take_their_kernels_with_them(root, visit, tmp_path):
    served = serve_app(root, tmp_path)
    try:
        page = visit(served)
        for n in range(18):
            wait = 'commit' if n % 2 else 'load'  # some leave before the page is there
            page.goto(f'{served.base}voila/render/labeller.ipynb', wait_until=wait)
            if n % 4 == 0: page.get_by_role('button', name='Or try it').wait_for()
        page.goto(f'{served.base}voila/render/labeller.ipynb')
        page.get_by_role('button', name='Or try it').wait_for()
        page.reload()
        page.get_by_role('button', name='Or try it').wait_for()
        deadline = time.monotonic() + 60
        while served.kernels() > 2 and time.monotonic() < deadline: time.sleep(1)
        assert served.kernels() <= 2
        refused = [line for line in served.said if re.search(r'\b403 [A-Z]+ /', line)]  # 403 alone may be part of a kernel's id
        assert not refused, refused
        started = served.children
        assert len(started) >= 1
        served.process.send_signal(signal.SIGINT)
        _, alive = psutil.wait_procs([psutil.Process(served.process.pid), *started], timeout=60)
        assert not alive and 'Traceback' not in ''.join(served.said), ''.join(served.said)
    finally:
        if served.process.poll() is None: served.process.kill()


NOTEBOOK = '''
from sklearn.datasets import load_digits
from tsnmf.widgets import Explorer, PairLabeller
from IPython.display import display
X, y = load_digits(return_X_y=True)
display(PairLabeller(X[:100], 10, image_shape=(8, 8), path='said.csv'), Explorer(X[:100], y[:100]))
'''


def test_in_jupyterlab(browser, tmp_path):
    cells = [dict(cell_type='code', id=f'c{i}', metadata={}, outputs=[], execution_count=None, source=text) for i, text in enumerate([NOTEBOOK.strip(), '1 + 1', '2 + 2'])]
    python = dict(kernelspec=dict(display_name='Python 3', language='python', name='python3'))
    (tmp_path/'try.ipynb').write_text(json.dumps(dict(cells=cells, metadata=python, nbformat=4, nbformat_minor=5)))
    served = serve([sys.executable, '-m', 'jupyter', 'lab', f'--notebook-dir={tmp_path}', '--no-browser', f'--port={free_port()}', '--allow-root'],
                   tmp_path, JUPYTER_CONFIG_DIR=str(tmp_path/'config'), JUPYTERLAB_SETTINGS_DIR=str(tmp_path/'settings'), JUPYTERLAB_WORKSPACES_DIR=str(tmp_path/'spaces'))
    try:
        context = browser.new_context(viewport=dict(width=1280, height=1400))
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        token = served.url.rpartition('token=')[2]
        page.goto(f'{served.base.partition("/lab")[0].rstrip("/")}/lab/tree/try.ipynb?token={token}')
        first = page.locator('.jp-Notebook .jp-CodeCell').first
        first.wait_for()
        page.get_by_text('Python 3').first.wait_for()
        for _ in range(20):  # on a busy machine the kernel may not listen yet, and the press is lost
            first.locator('.cm-content').click()
            page.keyboard.press('Control+Enter')
            page.wait_for_timeout(3000)
            if first.locator('.jp-InputPrompt').filter(has_text=re.compile(r'[*\d]')).count(): break
        page.get_by_role('button', name='Same').wait_for()
        page.get_by_text(re.compile(r'ACC \d\.\d{3}')).wait_for()  # of the explorer
        page.get_by_text('Do these two belong together?').click()
        for key in 'ddsdsd':  # twice d would delete a cell
            page.wait_for_timeout(250)
            page.keyboard.press(key)
        page.get_by_text('6 answers', exact=True).wait_for()
        page.keyboard.press('u')
        page.get_by_text('5 answers', exact=True).wait_for()
        assert page.locator('.jp-Notebook .jp-CodeCell').count() == 3
        assert [row['answer'][0] for row in csv.DictReader((tmp_path/'said.csv').open())] == [*'ddsdsd', 'r']
        page.screenshot(path=tmp_path/'lab.png')
        context.close()
    finally: served.stop()
