"""`make app` serves two pages that work in a real browser, by mouse and by keyboard, with nothing from elsewhere."""
import csv, os, re, signal, socket, subprocess, sys, time, urllib.request

import psutil, pytest

PATIENCE = 180_000  # milliseconds, on a busy machine


def serve(root, answers):
    "Address of the pages, and the process that serves them"
    with socket.socket() as free:
        free.bind(('localhost', 0))
        url = f'http://localhost:{free.getsockname()[1]}'
    server = subprocess.Popen([sys.executable, root/'tools'/'app.py', f'--port={url.rpartition(":")[2]}', '--no-browser'], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, 'TSNMF_ANSWERS': str(answers)},
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # tests may run where Ctrl-C is ignored, in the background
    for _ in range(120):
        try: urllib.request.urlopen(url)
        except OSError: time.sleep(.5)
        else: return url, server
    pytest.fail(f'no page at {url}')


@pytest.fixture(scope='module')
def app(root, browser, tmp_path_factory):
    "Address of the served pages, and the file of answers"
    answers = tmp_path_factory.mktemp('app')/'answers.csv'
    url, server = serve(root, answers)
    yield url, answers
    server.terminate()
    server.communicate(timeout=60)


@pytest.fixture
def page(app, browser):
    "A page, and the requests it tried to make beyond this machine"
    url, _ = app
    context = browser.new_context(viewport=dict(width=1280, height=900))
    page, outside = context.new_page(), []
    page.set_default_timeout(PATIENCE)
    page.route(lambda u: not u.startswith((url, 'data:', 'blob:')), lambda route: (outside.append(route.request.url), route.abort()))
    yield page
    context.close()
    assert not outside


@pytest.fixture
def explorer(page, app):
    page.goto(app[0])
    page.get_by_role('link', name='explorer').click()
    page.get_by_role('button', name='Run', exact=True).wait_for()
    return page


def run(page, **fields):
    "Fill in fields and press Run"
    for name, value in fields.items():
        field = page.get_by_label(name, exact=True)
        if field.evaluate('e => e.tagName') == 'SELECT': field.select_option(value)
        else: field.fill(value)
        field.press('Tab')
    page.get_by_role('button', name='Run', exact=True).click()


def test_a_run_can_be_watched_and_taken_along(explorer, tmp_path):
    run(explorer, data='iris', amount='60')
    explorer.get_by_text(re.compile(r'ACC \d\.\d{3}')).wait_for()
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
    explorer.get_by_role('button', name='runs').click()
    explorer.locator('tr').nth(1).wait_for()  # below the header
    explorer.get_by_role('button', name='code').click()
    explorer.locator('textarea').wait_for()
    code = explorer.locator('textarea').input_value()
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, cwd=tmp_path)
    assert f'ACC {float(done.stdout):.3f}' in explorer.inner_text('[role=status]'), done.stderr


def test_a_long_run_can_be_cancelled_and_the_next_one_works(explorer):
    run(explorer, data='digits', **{'samples, at most': '1797'})
    explorer.get_by_text('running').wait_for()
    explorer.get_by_role('button', name='Cancel').click()
    explorer.get_by_text('cancelled').wait_for()
    run(explorer, data='iris', method='ConstraintClosure')
    explorer.get_by_text('ACC').first.wait_for()


def test_an_error_is_told_in_words(explorer):
    run(explorer, data='iris', **{'λ': '-1'})
    explorer.get_by_role('alert').wait_for()
    assert 'lam == -1.0, must be > 0' in explorer.get_by_role('alert').inner_text()
    run(explorer, **{'λ': 'much'})
    explorer.get_by_role('alert').filter(has_text='λ must be a number, or "auto"').wait_for()


def test_all_is_reached_with_the_tab_key(explorer):
    run(explorer, data='iris')
    explorer.get_by_text('save this figure').wait_for()
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


@pytest.mark.parametrize('width', [1280, 1920])
def test_pages_fit_the_window(explorer, app, width, tmp_path):
    explorer.set_viewport_size(dict(width=width, height=900))
    run(explorer, data='iris')
    explorer.locator('img[alt^="Similarity matrix"]').wait_for()
    fits = 'document.documentElement.scrollWidth <= innerWidth'
    assert explorer.evaluate(fits)
    explorer.screenshot(path=tmp_path/f'explorer-{width}.png')
    explorer.goto(f'{app[0]}/voila/render/labeller.ipynb')
    explorer.locator('img[alt="The clusters so far"]').wait_for()
    assert explorer.evaluate(fits)
    explorer.screenshot(path=tmp_path/f'labeller-{width}.png')


def test_pairs_are_labelled_by_button_and_key_and_found_again(page, app):
    url, file = app
    page.goto(f'{url}/voila/render/labeller.ipynb')
    page.get_by_text('0 answers', exact=True).wait_for()
    for n in range(1, 11):
        before = page.locator('img[alt^="sample "]').evaluate_all('e => e.map(i => i.alt)')
        page.wait_for_timeout(250)  # a press right after a new pair counts for the one before
        if n <= 5: page.get_by_role('button', name=('Same', 'Different')[n % 2]).click()
        else: page.keyboard.press('sd'[n % 2])
        page.get_by_text(f'{n} answer{"s" * (n > 1)}', exact=True).wait_for()
        assert page.locator('img[alt^="sample "]').evaluate_all('e => e.map(i => i.alt)') != before
    page.wait_for_timeout(250)
    page.keyboard.press('u')
    page.get_by_text('9 answers', exact=True).wait_for()
    page.wait_for_timeout(250)
    page.keyboard.press(' ')
    page.get_by_text('1 skipped').wait_for()
    rows = list(csv.DictReader(file.open()))
    assert [row['answer'] for row in rows] == ['different', 'same'] * 5 + ['revoke', 'skip']
    page.reload()
    page.get_by_text('9 answers', exact=True).wait_for()
    page.get_by_text('1 skipped').wait_for()
    page.locator('img[alt="The clusters so far"]').wait_for()


def test_ctrl_c_ends_everything(root, browser, tmp_path):
    url, server = serve(root, tmp_path/'answers.csv')
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f'{url}/voila/render/explorer.ipynb')
    run(page, **{'samples, at most': '1797'})
    page.get_by_text('running').wait_for()
    started = psutil.Process(server.pid).children(recursive=True)
    assert len(started) > 1  # the kernel, and the process that computes
    server.send_signal(signal.SIGINT)
    said = server.communicate(timeout=60)[0]
    gone, alive = psutil.wait_procs(started, timeout=30)
    assert not alive and 'Traceback' not in said, said
    page.close()
