/** Parses the arguments of `spandrel budgets`. */

import { parseArgs } from 'node:util';
import { argumentProblem, readId } from './typed-arguments.ts';

/** `id` null: the organization, whose id the server knows. */
export type TypedScope = { readonly kind: string; readonly id: string | null };

export type BudgetsCommand = { readonly kind: 'budgets'; readonly json: boolean } & (
  | { readonly action: 'list'; readonly scope: TypedScope | null; readonly includeArchived: boolean }
  | { readonly action: 'create'; readonly fields: BudgetFields & { readonly scope: TypedScope } }
  | { readonly action: 'set'; readonly id: string; readonly fields: BudgetFields }
  | { readonly action: 'archive'; readonly id: string }
  | { readonly action: 'reset'; readonly id: string; readonly reason: string | null }
);

/** Members of the body, by their names in the API. */
type BudgetFields = { readonly [name: string]: string | TypedScope };

/** One line for each form, as the help page prints them. */
export const BUDGETS_HELP: readonly (readonly [form: string, about: string])[] = [
  ['spandrel budgets list [--scope SCOPE] [--archived]', 'budgets with what is spent, newest first; archived ones too'],
  ['spandrel budgets create --name TEXT --scope SCOPE', 'limit what a scope spends, with --window and --limit:'],
  ['    --window WINDOW --limit USD', 'minute, hour, day, week, month, total or manual; such as 100 or 0.50'],
  ['    [--warn] [--worst]', 'only tell of a breach; reserve the most that a request can cost'],
  ['    [--provider ID] [--anchor INSTANT]', 'count one model provider; where windows begin, else now'],
  ['    SCOPE', 'organization, team:ID, project:ID, virtual_key:ID, principal:ID, attributed_user:ID'],
  ['spandrel budgets set ID [--name TEXT] [--limit USD]', 'change a budget:'],
  ['    [--on-breach ACTION] [--reserve ESTIMATE]', 'block or warn; expected or worst'],
  ['spandrel budgets reset ID [--reason TEXT]', 'begin a new period now; what was spent stays in the one before'],
  ['spandrel budgets archive ID', 'end a budget for good'],
];

/** `args` after "budgets". Returns a problem as text. */
export function readBudgetsCommand(args: readonly string[]): BudgetsCommand | string {
  const [action = '', ...others] = args;
  const read = READERS[action];
  if (read === undefined) return 'budgets takes list, create, set, reset or archive';
  try {
    return read(others);
  } catch (error) {
    return `budgets ${action}: ${argumentProblem(error)}`;
  }
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

const READERS: { readonly [action: string]: (args: readonly string[]) => BudgetsCommand } = {
  list(args) {
    const { values } = parseArgs({ args: [...args], options: { scope: text, archived: flag, json: flag } });
    const scope = values.scope === undefined ? null : readScope(values.scope);
    return { kind: 'budgets', action: 'list', scope, includeArchived: values.archived === true, json: isJson(values) };
  },
  create(args) {
    const options = { name: text, scope: text, window: text, limit: text, provider: text, anchor: text };
    const { values } = parseArgs({ args: [...args], options: { ...options, warn: flag, worst: flag, json: flag } });
    const { name, scope, window, limit, provider, anchor } = values;
    if (name === undefined || scope === undefined || window === undefined || limit === undefined) {
      throw new Error('--name, --scope, --window and --limit are all needed');
    }
    const fields = {
      ...{ name, scope: readScope(scope), window, limit_usd: limit },
      ...(values.warn === true ? { on_breach: 'warn' } : {}),
      ...(values.worst === true ? { reserve: 'worst' } : {}),
      ...(provider === undefined ? {} : { provider_id: readId(provider, 'the id of a model provider') }),
      ...(anchor === undefined ? {} : { cycle_anchor_at: anchor }),
    };
    return { kind: 'budgets', action: 'create', fields, json: isJson(values) };
  },
  set(args) {
    const options = { name: text, limit: text, 'on-breach': text, reserve: text, json: flag };
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const sent = {
      name: values.name,
      limit_usd: values.limit,
      on_breach: values['on-breach'],
      reserve: values.reserve,
    };
    const fields = Object.fromEntries(
      Object.entries(sent).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    if (Object.keys(fields).length === 0) throw new Error('name what to change');
    return { kind: 'budgets', action: 'set', id: onlyOne(positionals), fields, json: isJson(values) };
  },
  reset(args) {
    const options = { reason: text, json: flag };
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const { reason = null } = values;
    return { kind: 'budgets', action: 'reset', id: onlyOne(positionals), reason, json: isJson(values) };
  },
  archive(args) {
    const { values, positionals } = parseArgs({ args: [...args], options: { json: flag }, allowPositionals: true });
    return { kind: 'budgets', action: 'archive', id: onlyOne(positionals), json: isJson(values) };
  },
};

function isJson({ json }: { readonly json?: boolean | undefined }): boolean {
  return json === true;
}

function readScope(typed: string): TypedScope {
  const [, kind = '', id] = /^([a-z_]+)(?::(.+))?$/.exec(typed) ?? [];
  if (kind === '' || (kind === 'organization') !== (id === undefined)) {
    throw new Error('--scope takes organization, or a kind with an id, such as team:ID');
  }
  return { kind, id: id === undefined ? null : readId(id, `the id of a ${kind}`) };
}

const BUDGET_ID = /^budget_[0-9A-Za-z]{21}$/;

function onlyOne([typed, ...others]: readonly string[]): string {
  if (typed === undefined || others.length > 0 || !BUDGET_ID.test(typed)) {
    throw new Error('name exactly one budget by its id, budget_ and 21 letters and digits');
  }
  return typed;
}
