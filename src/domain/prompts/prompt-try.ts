/** Tries a prompt: renders a version with values for its variables, and has a model answer it through the gateway. */

import { tenantOf } from '../caller.ts';
import { Fault } from '../fault.ts';
import type { AskModel, ModelAnswer } from '../gateway/model-request.ts';
import type { TriedPrompt } from '../gateway/tried-prompt.ts';
import { isPossibleId } from '../ids.ts';
import { isNobodyOrActive } from '../management/fresh-caller.ts';
import type { ManagementStore } from '../management/management.ts';
import type { KeyStore } from '../management/management-port.ts';
import { maskTokens } from '../token-mask.ts';
import type { PresentedKey } from '../virtual-keys/virtual-key.ts';
import { differencesOf } from './comparison.ts';
import type { PromptCall, VersionedPrompt } from './prompt.ts';
import { changedConfig, type PromptConfig, requireSize } from './prompt-config.ts';
import type { Reference } from './prompt-names.ts';
import { errorMessageOf, outputOf, type PromptRequest, requestOf } from './prompt-request.ts';
import { type RenderInThread, renderTexts, type Variables } from './prompt-template.ts';
import type { VersionDraft } from './prompt-versions.ts';
import type { Prompts } from './prompts.ts';

type TryDeps = {
  readonly prompts: Pick<Prompts, 'get'>;
  readonly virtualKeys: Pick<ManagementStore, 'virtualKey' | 'member'>;
  readonly keys: Pick<KeyStore, 'findGatewaySetup'>;
  /** Null: the gateway is off. */
  readonly ask: () => AskModel | null;
  readonly render: RenderInThread;
  readonly monotonicMs: () => number;
};

export type PromptTry = {
  readonly reference: Reference;
  readonly virtualKeyId: string;
  readonly variables: Variables;
  /** In place of what the version holds; null: the version as it is. */
  readonly draft: VersionDraft | null;
};

export type TryError = { readonly code: string; readonly message: string; readonly httpStatus: number };

export type Tried = {
  readonly output: string | null;
  readonly error: TryError | null;
  readonly answer: ModelAnswer;
  readonly durationMs: number;
};

export type TryPrompt = (call: PromptCall, asked: PromptTry) => Promise<Tried>;

/** Who could get a new secret of a key may use the key. */
const USE_KEY = 'virtualKeys:rotate';
const ERROR_STATUS_MIN = 400;
const MESSAGE_CHARACTERS_MAX = 2_000;

/** Throws as TryPrompt of the contract says. */
export function createPromptTry(deps: TryDeps): TryPrompt {
  return async (call, { reference, virtualKeyId, variables, draft }) => {
    const found = await deps.prompts.get(call.project, reference);
    call.requirePermission(USE_KEY);
    const ask = deps.ask();
    if (ask === null) throw new Fault('gateway_off', 'This server has no gateway: SPANDREL_GATEWAY is off.');
    const presented = await findKey(deps, call, virtualKeyId);
    const config =
      draft === null ? found.version.config : changedConfig(found.version.config, draft.config, draft.cleared);
    requireSize(config, '{}');
    const asked = { tenant: tenantOf(call.project), isUrgent: false };
    const { prompt, messages } = config;
    const texts = await renderTexts(deps.render, asked, { prompt, messages, variables });
    const { providers } = await deps.keys.findGatewaySetup(call.organization.id);
    const reach = { config: presented.key.config, projectId: call.project.id, providers };
    const request = requestOf({ ...config, ...texts }, reach);
    const startedAtMs = deps.monotonicMs();
    const tried = nameTried(found, config);
    const answer = await ask({ ...request, presented, tried, endUserId: call.actor.actorUserId });
    const durationMs = Math.round(deps.monotonicMs() - startedAtMs);
    return { ...readAnswer(request, answer), answer, durationMs };
  };
}

/** Throws virtual_key_not_found for a key of another project, too: its traces are not for this one. */
async function findKey(
  { virtualKeys }: TryDeps,
  { project, organization }: PromptCall,
  id: string,
): Promise<PresentedKey> {
  const key = isPossibleId(id) ? await virtualKeys.virtualKey(organization.id, id) : null;
  if (key?.traceProjectId !== project.id) {
    throw new Fault('virtual_key_not_found', 'The project has no such virtual key.');
  }
  const { principalUserId: userId } = key;
  const member = userId === null ? null : await virtualKeys.member(organization.id, userId);
  return { key, organization, project, principalActive: isNobodyOrActive(userId, member) };
}

/** What is tried is the stored version only where it has the same content. */
function nameTried({ prompt: { id, handle }, version }: VersionedPrompt, config: PromptConfig): TriedPrompt {
  const parametersJson = null;
  const stored = { config: version.config, parametersJson };
  const isStored = config === version.config || differencesOf({ config, parametersJson }, stored).length === 0;
  return { id, handle, version: isStored ? { id: version.id, number: version.version } : null };
}

function readAnswer({ kind }: PromptRequest, answer: ModelAnswer): Pick<Tried, 'output' | 'error'> {
  const { status, bytes, fault } = answer;
  if (fault !== null) {
    const { code, message, httpStatus } = fault;
    return { output: null, error: { code, message, httpStatus } };
  }
  if (status < ERROR_STATUS_MIN) {
    const output = outputOf(kind, bytes);
    return output === null ? failed(status, 'The answer of the model has no text.') : { output, error: null };
  }
  return failed(status, errorMessageOf(bytes) ?? `The model provider returned the status ${status}.`);
}

function failed(httpStatus: number, message: string): Pick<Tried, 'output' | 'error'> {
  // Masked first: a cut token would not be known for one.
  const shown = maskTokens(message).slice(0, MESSAGE_CHARACTERS_MAX).toWellFormed();
  return { output: null, error: { code: 'provider_error', message: shown, httpStatus } };
}
