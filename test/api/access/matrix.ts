/** Reads an access table and tests every cell over REST and gRPC. */

import { expect, it } from 'vitest';
import { inParallel, isFullTier } from '../../support/scenario.ts';
import type { Callable } from '../../support/surfaces.ts';
import { CALLERS, type CallerName, type Fixture, type MemberName } from './access-fixture.ts';
import { ask, type Question, SURFACES, type Wanted } from './question.ts';

/** Codes by the letter after a status; rows may override them by status or letter. */
const CODES: Codes = {
  p: 'insufficient_permissions',
  a: 'administrator_required',
  o: 'api_key_not_owned',
  s: 'api_key_scope_violation',
  d: 'api_key_permission_denied',
  c: 'credential_class_mismatch',
  n: 'project_scope_required',
  u: 'unknown_project',
  404: 'api_key_not_found',
  409: 'api_key_already_revoked',
  422: 'validation_error',
};

type Codes = { readonly [letterOrStatus: string]: string };

export type Cell = {
  readonly fixture: Fixture;
  readonly caller: CallerName;
  /** The member behind the caller. */
  readonly owner: MemberName | null;
  /** True if it expects a refusal. */
  readonly isRefused: boolean;
};

/**
 * Creates the object of a cell: a new one if the cell changes it, else one shared by all cells of a name. A cell that
 * is wrongly allowed fails anyway.
 */
export function makeFor<T>(
  make: (cell: Cell) => Promise<T>,
  nameOf: (cell: Cell) => string = () => 'anybody',
): (cell: Cell) => Promise<T> {
  const shared = new Map<string, Promise<T>>();
  return (cell) => {
    if (!cell.isRefused) return make(cell);
    // Several files may run a matrix, each with an organization of its own.
    const name = `${cell.fixture.app.address} ${nameOf(cell)}`;
    const made = shared.get(name) ?? make(cell);
    shared.set(name, made);
    return made;
  };
}

/** The operation of a row. */
export type Operation = {
  readonly method: Callable;
  readonly ask: (cell: Cell) => CellQuestion | Promise<CellQuestion>;
  readonly codes?: Codes;
  /** For listings: the id of an item. */
  readonly idOf?: (item: { readonly [name: string]: string }) => string;
};

/** `token` when it is not the caller's usual one. */
type CellQuestion = Omit<Question, 'method'> & { readonly token?: string };

export type Matrix = {
  /** The first line names callers, each further one begins with the name of an operation. */
  readonly table: string;
  readonly operations: { readonly [row: string]: Operation };
  /** Callers that must equal another one in every row. */
  readonly alike: { readonly [caller: string]: CallerName };
  /** Callers that are answered the same in every row. */
  readonly always?: { readonly [caller: string]: string };
};

type Row = { readonly name: string; readonly cells: readonly (readonly [CallerName, string])[] };

const WIDTH = 6;

/** Defines a test per row. */
export function testMatrix(matrix: Matrix, fixture: () => Fixture): void {
  const rows = readRows(matrix);
  it('every operation has a row, and every row an operation', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(matrix.operations).sort());
  });
  for (const row of rows) {
    it(row.name, () => testRow(row, matrix, fixture()));
  }
}

/** The rpcs that have a row. */
export function methodsOf({ operations }: Matrix): readonly Callable[] {
  return Object.values(operations).map(({ method }) => method);
}

function readRows({ table, alike, always = {} }: Matrix): readonly Row[] {
  const [head = [], ...lines] = table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const callers = head.slice(1) as CallerName[];
  return lines.map(([name = '', ...texts]) => {
    expect(texts, name).toHaveLength(callers.length);
    const cells = callers.map((caller, column) => [caller, texts[column] ?? ''] as const);
    const textOf = new Map<string, string>(cells);
    const copies = Object.entries(alike).map(([copy, model]) => [copy, textOf.get(model) ?? '-'] as const);
    const all = [...cells, ...copies, ...Object.entries(always)].filter(([, text]) => text !== '-');
    return { name, cells: all.map(([caller, text]) => [caller as CallerName, text] as const) };
  });
}

async function testRow({ name, cells }: Row, { operations }: Matrix, fixture: Fixture): Promise<void> {
  const operation = operations[name];
  if (operation === undefined) throw new Error(`no operation is called ${name}`);
  const wanted: { [cell: string]: string } = {};
  const found: { [cell: string]: string } = {};
  // The quick tier asks each cell over one surface, and its neighbour over the other.
  const surfacesOf = (at: number) => SURFACES.filter((_, index) => isFullTier || index === at % SURFACES.length);
  const questions = cells.flatMap((cell, at) => surfacesOf(at).map((surface) => [...cell, surface] as const));
  for (const [caller, text, surface] of questions)
    wanted[`${caller} ${surface}`] = wantedText(operation, caller, { text, fixture });
  await inParallel(questions, WIDTH, async ([caller, text, surface], index) => {
    const expected = readCell(text, operation);
    const cell = { fixture, caller, owner: ownerOf(caller), isRefused: expected.code !== null };
    const { token = fixture.tokens[caller], ...question } = await operation.ask(cell);
    const outcome = await ask(
      surface,
      { method: operation.method, ...question },
      { address: fixture.app.address, token, wanted: expected, spelling: index },
    );
    const { status, code, body } = outcome;
    found[`${caller} ${surface}`] =
      code !== null || isStatus(text) ? shown(status, code) : listed(body.data, operation, fixture);
  });
  expect(found).toEqual(wanted);
}

export function ownerOf(caller: CallerName): MemberName | null {
  return caller === 'PROJ' ? null : CALLERS[caller]({ organization: '', project: '' }).owner;
}

function isStatus(text: string): boolean {
  return /^\d{3}[a-z]?$/.test(text);
}

/** A cell without a status holds the items of a listing. */
function readCell(text: string, { codes = {} }: Operation): Wanted {
  if (!isStatus(text)) return { status: 200, code: null };
  const status = Number(text.slice(0, 3));
  const letter = text.slice(3) || String(status);
  return { status, code: status < 300 ? null : (codes[letter] ?? CODES[letter] ?? letter) };
}

function wantedText(
  operation: Operation,
  caller: CallerName,
  { text, fixture }: { text: string; fixture: Fixture },
): string {
  const { status, code } = readCell(text, operation);
  if (isStatus(text)) return shown(status, code);
  const ids = text.split('+').flatMap((word) => fixture.ids(word, ownerOf(caller)));
  return shownIds(ids, fixture);
}

function listed(data: readonly { readonly [name: string]: string }[], { idOf }: Operation, fixture: Fixture): string {
  return shownIds(
    data.map((item) => (idOf === undefined ? (item.id ?? '') : idOf(item))),
    fixture,
  );
}

function shownIds(ids: readonly string[], fixture: Fixture): string {
  return ids.map(fixture.nameOf).sort().join(', ');
}

function shown(status: number | string, code: string | null): string {
  return code === null ? String(status) : `${status} ${code}`;
}
