/** Parses the arguments of `spandrel virtual-keys`. */

import { parseArgs } from 'node:util';
import { type Expiry, readExpiry } from './keys-arguments.ts';
import { argumentProblem, readId } from './typed-arguments.ts';

export type VirtualKeysCommand = { readonly kind: 'virtual-keys'; readonly json: boolean } & (
  | { readonly action: 'list' }
  | { readonly action: 'create'; readonly options: VirtualKeyOptions }
  | { readonly action: 'rotate'; readonly id: string; readonly overlapSeconds: number | null }
  | { readonly action: 'disable' | 'enable' | 'revoke'; readonly id: string; readonly reason: string | null }
);

export type VirtualKeyOptions = {
  readonly name: string;
  readonly projectId: string;
  readonly description: string | null;
  readonly externalId: string | null;
  readonly models: readonly string[];
  readonly providers: readonly string[];
  /** Requests in a minute; null: no limit. */
  readonly rpm: number | null;
  readonly expires: Expiry | null;
  /** A budget of the key; null: none. */
  readonly budget: { readonly limitUsd: string; readonly window: string; readonly isWarning: boolean } | null;
};

/** One line for each form, as the help page prints them. */
export const VIRTUAL_KEYS_HELP: readonly (readonly [form: string, about: string])[] = [
  ['spandrel virtual-keys list', 'the virtual keys, revoked ones too'],
  ['spandrel virtual-keys create --name TEXT --project ID', 'mint a virtual key and print its secret, once:'],
  ['    [--description TEXT] [--external-id ID]', 'what it is for; its id in another system'],
  ['    [--model NAME]... [--provider ID]...', 'all that it may use; * in a name stands for any characters'],
  ['    [--rpm COUNT] [--expires WHEN]', 'requests in a minute; 30d, 12h, or an instant'],
  ['    [--budget-limit USD --budget-window WINDOW]', 'a budget of the key, which blocks, or only tells of a breach'],
  ['    [--budget-warn]', 'with --budget-warn; minute, hour, day, week, month, total or manual'],
  [
    'spandrel virtual-keys rotate ID [--overlap SECONDS]',
    'a new secret; the old one works on for a day, or for so long',
  ],
  ['spandrel virtual-keys disable|enable ID', 'stop a virtual key, or let it work again'],
  ['spandrel virtual-keys revoke ID', 'end a virtual key for good; all three take --reason TEXT'],
];

const USAGE = 'virtual-keys takes list, create, rotate, disable, enable or revoke';

/** `args` after "virtual-keys". Returns a problem as text. */
export function readVirtualKeysCommand(args: readonly string[]): VirtualKeysCommand | string {
  const [action = '', ...others] = args;
  try {
    return readAction(action, others) ?? USAGE;
  } catch (error) {
    return `virtual-keys ${action}: ${argumentProblem(error)}`;
  }
}

const text = { type: 'string' } as const;
const texts = { type: 'string', multiple: true } as const;
const flag = { type: 'boolean' } as const;
const json = { type: 'boolean', default: false } as const;

function readAction(action: string, args: readonly string[]): VirtualKeysCommand | null {
  const kind = 'virtual-keys';
  if (action === 'list') {
    const { values } = parseArgs({ args: [...args], options: { json } });
    return { kind, action, json: values.json };
  }
  if (action === 'create') return readCreation(args);
  if (action === 'rotate') {
    const options = { overlap: text, json };
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const overlapSeconds = values.overlap === undefined ? null : readCount(values.overlap, '--overlap');
    return { kind, action, id: onlyOne(positionals), overlapSeconds, json: values.json };
  }
  if (action !== 'disable' && action !== 'enable' && action !== 'revoke') return null;
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { reason: text, json },
    allowPositionals: true,
  });
  return { kind, action, id: onlyOne(positionals), reason: values.reason ?? null, json: values.json };
}

function readCreation(args: readonly string[]): VirtualKeysCommand {
  const accepted = {
    ...{ name: text, project: text, description: text, 'external-id': text, rpm: text, expires: text },
    ...{ 'budget-limit': text, 'budget-window': text, 'budget-warn': flag },
    ...{ model: texts, provider: texts, json },
  };
  const { values } = parseArgs({ args: [...args], options: accepted });
  if (values.name === undefined || values.project === undefined) throw new Error('--name and --project are needed');
  const options = {
    name: values.name,
    projectId: readId(values.project, 'the id of a project'),
    description: values.description ?? null,
    externalId: values['external-id'] ?? null,
    models: values.model ?? [],
    providers: (values.provider ?? []).map((id) => readId(id, 'the id of a model provider')),
    rpm: values.rpm === undefined ? null : readCount(values.rpm, '--rpm'),
    expires: values.expires === undefined ? null : readExpiry(values.expires),
    budget: readBudget(values),
  };
  return { kind: 'virtual-keys', action: 'create', options, json: values.json };
}

type BudgetValues = {
  readonly 'budget-limit'?: string | undefined;
  readonly 'budget-window'?: string | undefined;
  readonly 'budget-warn'?: boolean | undefined;
};

function readBudget(values: BudgetValues): VirtualKeyOptions['budget'] {
  const { 'budget-limit': limitUsd, 'budget-window': window, 'budget-warn': isWarning } = values;
  if (limitUsd === undefined && window === undefined && isWarning === undefined) return null;
  if (limitUsd === undefined || window === undefined) {
    throw new Error('a budget needs both --budget-limit and --budget-window');
  }
  return { limitUsd, window, isWarning: isWarning === true };
}

function onlyOne([typed, ...others]: readonly string[]): string {
  if (typed === undefined || typed === '' || others.length > 0)
    throw new Error('name exactly one virtual key by its id');
  return readId(typed, 'the id of a virtual key');
}

function readCount(typed: string, option: string): number {
  if (!/^[0-9]{1,9}$/.test(typed)) throw new Error(`${option} takes a whole number`);
  return Number(typed);
}
