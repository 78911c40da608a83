/** Finds the texts of settings: in the environment, in the file of settings, and in the files that hold secrets. */

import { readFileSync, statSync } from 'node:fs';
import { fileNameOf, isAboutService, problemOfName, READ_NAMES } from './names.ts';

export type Environment = { readonly [name: string]: string | undefined };

/** A text without white space around it, never empty, and where it stands. */
type Sourced = { readonly text: string; readonly source: string };

export type Sources = {
  readonly values: ReadonlyMap<string, Sourced>;
  /** One line each, without values. */
  readonly problems: readonly string[];
};

type Layer = { readonly texts: ReadonlyMap<string, Sourced>; readonly problems: readonly string[] };

const FILE_MAX_BYTES = 1024 * 1024;
const CONFIG = 'SPANDREL_CONFIG';

/** Of the environment and the file of settings, the first that has a setting, or names the file of it, counts. */
export function readSources(environment: Environment): Sources {
  const ofEnvironment = layerOfEnvironment(environment);
  const path = ofEnvironment.texts.get(CONFIG)?.text;
  const layers = path === undefined ? [ofEnvironment] : [ofEnvironment, layerOfFile(path)];
  const problems = layers.flatMap((layer) => layer.problems);
  const values = new Map<string, Sourced>();
  for (const name of READ_NAMES) {
    const found = find(name, layers, problems);
    if (found !== null) values.set(name, found);
  }
  return { values, problems };
}

function find(name: string, layers: readonly Layer[], problems: string[]): Sourced | null {
  const fileName = fileNameOf(name);
  for (const { texts } of layers) {
    const direct = texts.get(name) ?? null;
    const path = fileName === null ? undefined : texts.get(fileName);
    if (path === undefined && direct === null) continue;
    if (path === undefined) return direct;
    if (direct !== null) problems.push(`${name} and ${fileName} must not both be set`);
    const read = readText(`the file of ${fileName}`, path.text);
    if (read.problem === null && read.text !== '') return { text: read.text, source: `the file of ${fileName}` };
    problems.push(read.problem ?? `the file of ${fileName} is empty`);
    return null;
  }
  return null;
}

/** Without empty variables: templates of platforms leave such behind. */
function layerOfEnvironment(environment: Environment): Layer {
  const texts = new Map<string, Sourced>();
  const problems: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || isAboutService(name, value)) continue;
    const problem = problemOfName(name, false);
    if (problem !== null) problems.push(problem);
    if (value.trim() !== '') texts.set(name, { text: value.trim(), source: 'environment' });
  }
  return { texts, problems };
}

const LINE = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/;
const QUOTED = /^(["'])((?:(?!\1).)*)\1\s*(?:#.*)?$/;

/** Lines `NAME=value` as in dotenv: with `export` or without, values in quotes or not, comments behind #. */
function layerOfFile(path: string): Layer {
  const { text, problem } = readText(`the file of ${CONFIG}`, path);
  const texts = new Map<string, Sourced>();
  const problems: string[] = problem === null ? [] : [problem];
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const place = `line ${index + 1} of the file of ${CONFIG}`;
    const [, name = '', written = ''] = LINE.exec(line.trim()) ?? [];
    const value = readValue(written);
    const wrong = name === '' ? 'is not NAME=value' : value === null ? UNCLEAR : problemInFile(name, texts);
    if (wrong !== null) problems.push(`${place} ${wrong}`);
    else if (value !== null && value !== '') texts.set(name, { text: value, source: `${path}, line ${index + 1}` });
  }
  return { texts, problems };
}

function problemInFile(name: string, texts: ReadonlyMap<string, Sourced>): string | null {
  if (name === CONFIG) return `sets ${CONFIG}, which only the environment can`;
  if (texts.has(name)) return `sets ${name} a second time`;
  const problem = problemOfName(name, true);
  return problem === null ? null : `has a wrong name: ${problem}`;
}

const UNCLEAR = 'needs quotes around its value, because it begins with # or with a quote that does not end';

/** A # begins a comment only behind white space, because passwords have it too. Null: nobody can tell where the value ends. */
function readValue(written: string): string | null {
  const quoted = QUOTED.exec(written);
  if (quoted !== null) return (quoted[2] ?? '').trim();
  return /^(["']|#\S)/.test(written) ? null : written.replace(/(^|\s)#.*$/, '').trim();
}

type TextReading = { readonly text: string; readonly problem: string | null };

function readText(what: string, path: string): TextReading {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return { text: '', problem: `${what} is not a file` };
    if (stats.size > FILE_MAX_BYTES) return { text: '', problem: `${what} is larger than ${FILE_MAX_BYTES} bytes` };
    return { text: readFileSync(path, 'utf8').trim(), problem: null };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return { text: '', problem: `${what} cannot be read (${code})` };
  }
}
