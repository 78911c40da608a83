/** The unmodified CLI and SDK of LangWatch, as child processes, with the prompts of a running server. */

import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { act, createPrompt, inPath } from '../api/prompts/prompts-client.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { temporaryFolder } from '../support/temp.ts';
import { runScript } from './run-client.ts';
import { readTrace } from './sending.ts';

const CLI = new URL('../../node_modules/langwatch/dist/cli/index.js', import.meta.url).pathname;
const TIMEOUT_MS = 60_000;

let app: TestApp;
const { path: folder, remove } = temporaryFolder();
beforeAll(async () => {
  app = await startApp();
  mkdirSync(join(folder, 'prompts'), { recursive: true });
});
afterAll(async () => {
  remove();
  await app.close();
});

type Ran = { readonly code: number | null; readonly shown: string };

/** Runs a command in the folder of an application. `typed` is what a person answers. */
function langwatch(command: string, typed = ''): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...command.split(' ')], {
      cwd: folder,
      timeout: TIMEOUT_MS,
      env: {
        PATH: process.env.PATH,
        NO_COLOR: '1',
        LANGWATCH_ENDPOINT: app.address,
        LANGWATCH_API_KEY: app.projectKey,
      },
    });
    let shown = '';
    let answered = typed === '';
    if (answered) child.stdin.end();
    const show = (text: Buffer) => {
      shown += text;
      if (answered || !shown.includes('Choose resolution')) return;
      answered = true;
      child.stdin.end(`${typed}\n`);
    };
    child.stdout.on('data', show);
    child.stderr.on('data', show);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, shown }));
  });
}

async function succeed(command: string, typed = ''): Promise<string> {
  const { code, shown } = await langwatch(command, typed);
  expect(code, shown).toBe(0);
  return shown;
}

const fileOf = (name: string) => join(folder, 'prompts', `${name}.prompt.yaml`);
const readJson = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));

/** Writes a local file as the CLI has them. */
function writeFile(name: string, system: string, temperature = 0.5): void {
  const lines = [
    'model: openai/gpt-5',
    'modelParameters:',
    `  temperature: ${temperature}`,
    'messages:',
    '  - role: system',
    `    content: ${JSON.stringify(system)}`,
    '  - role: user',
    '    content: "{{input}} about {{topic}}"',
  ];
  writeFileSync(fileOf(name), `${lines.join('\n')}\n`);
}

describe("LangWatch's CLI", () => {
  it('begins a folder, and lists the prompts of the server', async () => {
    expect(await succeed('prompt init')).toContain('Project initialized');
    expect(await succeed('prompt list')).toContain('No prompts found');
    await createPrompt(app, { handle: 'shared/greeting', model: 'openai/gpt-5-mini' });
    const listed = await succeed('prompt list');
    expect(listed).toContain('Found 1 published prompt');
    expect(listed).toMatch(/shared\/greeting\s+1\s+openai\/gpt-5-mini/);
  });

  it('adds a prompt, and pulls its next version', async () => {
    await succeed('prompt add shared/greeting');
    const path = join(folder, 'prompts/.materialized/shared/greeting.prompt.yaml');
    expect(readFileSync(path, 'utf8')).toContain('You greet {{name}}.');
    expect(readJson('prompts-lock.json').prompts['shared/greeting']).toMatchObject({ version: 1 });
    const body = { prompt: 'You greet {{name}} warmly.', commitMessage: 'Warmer' };
    await act(app, 'PUT', inPath('shared/greeting'), { body });
    expect(await succeed('prompt pull')).toContain('(version 2)');
    expect(readFileSync(path, 'utf8')).toContain('warmly');
    expect(await succeed('prompt pull')).toContain('no changes');
    const unknown = await langwatch('prompt add shared/unknown');
    expect([unknown.code, unknown.shown.includes('prompt_not_found')]).toEqual([1, true]);
  });

  it('pushes local files: new ones, changed ones, and those without a change', async () => {
    writeFile('writer', 'You write.');
    await succeed('prompt add writer prompts/writer.prompt.yaml');
    expect(await succeed('prompt push')).toContain('Pushed writer (version 1)');
    const stored = await act(app, 'GET', inPath('writer'));
    expect(stored).toMatchObject({
      ...{ version: 1, prompt: 'You write.', temperature: 0.5, scope: 'PROJECT' },
      commitMessage: 'Synced from local file: writer.prompt.yaml',
      inputs: [{ identifier: 'input' }, { identifier: 'topic' }],
    });
    expect(await succeed('prompt push')).toContain('no changes');
    writeFile('writer', 'You write well.');
    expect(await succeed('prompt sync')).toContain('Pushed writer (version 2)');
    expect(await succeed('prompt sync')).toContain('no changes');
    expect(readJson('prompts-lock.json').prompts.writer).toMatchObject({ version: 2 });
  });

  it('asks about a conflict, and takes the side that a person chooses', async () => {
    const changeThere = (prompt: string) =>
      act(app, 'PUT', inPath('writer'), { body: { prompt, temperature: 1, commitMessage: prompt } });
    await changeThere('Changed there');
    writeFile('writer', 'Changed here');
    const aborted = await langwatch('prompt push', 'a');
    expect([aborted.code, aborted.shown.includes('aborted due to conflict')]).toEqual([1, true]);
    expect(aborted.shown).toContain('Local version: 2, Remote version: 3');
    expect(aborted.shown).toContain('prompt content differs');
    expect(aborted.shown).toContain('temperature: 0.5 → 1');
    await succeed('prompt push', 'l');
    expect(await act(app, 'GET', inPath('writer'))).toMatchObject({
      version: 4,
      prompt: 'Changed here',
      temperature: 0.5,
    });
    expect(await succeed('prompt push')).toContain('no changes');
    await changeThere('Changed there again');
    writeFile('writer', 'Changed here again');
    await succeed('prompt push', 'r');
    expect(readFileSync(fileOf('writer'), 'utf8')).toContain('Changed there again');
    expect(readJson('prompts-lock.json').prompts.writer).toMatchObject({ version: 5 });
    expect(await succeed('prompt push')).toContain('no changes');
    expect((await act(app, 'GET', inPath('writer'))).version).toBe(5);
  });
});

describe("LangWatch's SDK, traced", () => {
  it('links a trace to the version that it got and compiled, by every name', async () => {
    const { id, versionId } = await createPrompt(app, { handle: 'traced/answer', prompt: 'You answer {{name}}.' });
    const code = `
      import { LangWatch, getLangWatchTracer } from 'langwatch';
      import { setupObservability } from 'langwatch/observability/node';
      const { shutdown } = setupObservability({ debug: { logLevel: 'error' } });
      const { prompts } = new LangWatch();
      const traceId = await getLangWatchTracer('answers').withActiveSpan('answer', async (root) => {
        (await prompts.get('traced/answer')).compile({ name: 'Ada' });
        return root.spanContext().traceId;
      });
      await shutdown();
      console.log(traceId);
      process.exit(0);`;
    const to = { address: app.address, key: app.projectKey, openAiUrl: '' };
    const traceId = await runScript(['--input-type=module', '--eval', code], to);
    const { metadata, spans } = await readTrace(app, traceId);
    const names = [id, versionId, 'traced/answer', 'traced/answer:1'];
    expect(metadata.prompt_ids.toSorted()).toEqual(names.toSorted());
    expect(spans.map(({ name }: { readonly name: string }) => name)).toContain('Prompt.compile');
  });
});

describe("LangWatch's SDK", () => {
  /** Runs statements with the unmodified package; returns what they leave in `told`. */
  async function run(statements: string) {
    const code = `
      import { LangWatch } from 'langwatch';
      const { prompts } = new LangWatch();
      const told = {};
      ${statements}
      console.log(JSON.stringify(told));
      process.exit(0);`;
    const to = { address: app.address, key: app.projectKey, openAiUrl: '' };
    return JSON.parse(await runScript(['--input-type=module', '--eval', code], to));
  }

  it('creates, gets, updates, lists and deletes prompts, and compiles their texts', async () => {
    const told = await run(`
      const made = await prompts.create({ handle: 'sdk/answer', prompt: 'You answer {{name}}.' });
      told.made = [made.version, made.model];
      const changed = await prompts.update('sdk/answer', { prompt: 'Dear {{name}}', commitMessage: 'Politer' });
      told.changed = changed.version;
      const found = await prompts.get('sdk/answer');
      told.found = [found.id === made.id, found.version, found.compile({ name: 'Ada' }).messages];
      told.tagged = (await prompts.get('sdk/answer:1')).version;
      told.all = (await prompts.getAll()).map(({ handle }) => handle).includes('sdk/answer');
      const configData = {
        ...{ prompt: 'Dear {{name}}', messages: [], inputs: [], model: 'openai/gpt-5' },
        outputs: [{ identifier: 'output', type: 'str' }],
      };
      const sync = (localVersion) => prompts.sync({ name: 'sdk/answer', configData, localVersion });
      told.synced = [(await sync(2)).action, (await sync(1)).action];
      told.taken = await prompts.create({ handle: 'sdk/answer', prompt: 'x' }).catch(({ message }) => message);
      told.deleted = await prompts.delete('sdk/answer');
      told.gone = await prompts.get('sdk/answer').catch(({ message }) => message);
    `);
    expect(told).toEqual({
      made: [1, 'openai/gpt-5'],
      changed: 2,
      found: [true, 2, [{ role: 'system', content: 'Dear Ada' }]],
      tagged: 1,
      all: true,
      synced: ['updated', 'conflict'],
      taken: expect.stringContaining('prompt_handle_taken'),
      deleted: { success: true },
      gone: expect.stringContaining('prompt_not_found'),
    });
  });
});
