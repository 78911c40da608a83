/** Parses the arguments of `spandrel model-providers`. */

import { parseArgs } from 'node:util';
import { argumentProblem, readId } from './typed-arguments.ts';

export type ModelProvidersCommand = { readonly kind: 'model-providers'; readonly json: boolean } & (
  | { readonly action: 'list' }
  | { readonly action: 'create'; readonly options: ModelProviderOptions }
  | { readonly action: 'test' | 'delete'; readonly id: string }
);

export type ModelProviderOptions = {
  readonly name: string;
  readonly providerKind: string;
  readonly baseUrl: string | null;
  /** The variable of the environment that holds the API key: shells remember what is typed. */
  readonly keyVariable: string | null;
  readonly projectIds: readonly string[];
};

/** One line for each form, as the help page prints them. */
export const MODEL_PROVIDERS_HELP: readonly (readonly [form: string, about: string])[] = [
  ['spandrel model-providers list', 'the model providers of the organization'],
  ['spandrel model-providers create --name TEXT --kind KIND', 'openai, azure_openai, anthropic or openai_compatible:'],
  ['    [--base-url URL] [--api-key-from VARIABLE]', 'where it is; the variable of the environment with its API key'],
  ['    [--project ID]...', 'the projects that use it, by default all'],
  ['spandrel model-providers test ID', 'ask a model provider for its models'],
  ['spandrel model-providers delete ID', 'delete a model provider with its API key'],
];

const USAGE = 'model-providers takes list, create, test or delete';

/** `args` after "model-providers". Returns a problem as text. */
export function readModelProvidersCommand(args: readonly string[]): ModelProvidersCommand | string {
  const [action = '', ...others] = args;
  try {
    return readAction(action, others) ?? USAGE;
  } catch (error) {
    return `model-providers ${action}: ${argumentProblem(error)}`;
  }
}

const text = { type: 'string' } as const;
const json = { type: 'boolean', default: false } as const;

function readAction(action: string, args: readonly string[]): ModelProvidersCommand | null {
  const kind = 'model-providers';
  if (action === 'list') {
    const { values } = parseArgs({ args: [...args], options: { json } });
    return { kind, action, json: values.json };
  }
  if (action === 'create') {
    const accepted = { name: text, kind: text, 'base-url': text, 'api-key-from': text };
    const projects = { type: 'string', multiple: true } as const;
    const { values } = parseArgs({ args: [...args], options: { ...accepted, project: projects, json } });
    if (values.name === undefined || values.kind === undefined) throw new Error('--name and --kind are needed');
    const options = {
      name: values.name,
      providerKind: values.kind,
      baseUrl: values['base-url'] ?? null,
      keyVariable: values['api-key-from'] ?? null,
      projectIds: (values.project ?? []).map((id) => readId(id, 'the id of a project')),
    };
    return { kind, action, options, json: values.json };
  }
  if (action !== 'test' && action !== 'delete') return null;
  const { values, positionals } = parseArgs({ args: [...args], options: { json }, allowPositionals: true });
  const [typed = '', ...others] = positionals;
  if (typed === '' || others.length > 0) throw new Error('name exactly one model provider by its id');
  return { kind, action, id: readId(typed, 'the id of a model provider'), json: values.json };
}
