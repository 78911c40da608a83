/** The parameters of what a trigger does: their validation, their stored form, and the URL that is kept sealed. */

import type { RandomBytes } from '../clock.ts';
import type { Reason } from '../fault.ts';
import { customReason } from '../reasons.ts';
import { type EncryptionKeys, openFor, sealFor } from '../secrets.ts';
import type { ActionParams, Trigger, TriggerAction } from './trigger.ts';

/** As sent: without what was not. */
export type SentParams = ActionParams & { readonly slackWebhook?: string };

const MEMBERS: { readonly [A in TriggerAction]: readonly (keyof SentParams)[] } = {
  SEND_WEBHOOK: [],
  // What an answer shows of the URL may come back.
  SEND_SLACK_MESSAGE: ['slackWebhook', 'slackWebhookHint'],
  SEND_EMAIL: ['members'],
  ADD_TO_DATASET: ['datasetId'],
  ADD_TO_ANNOTATION_QUEUE: ['queueId'],
};
const URL_CHARACTERS_MAX = 2_000;
const ID_CHARACTERS_MAX = 200;
const ADDRESSES_MAX = 20;
const ADDRESS_CHARACTERS_MAX = 254;
/** No line breaks, which would begin other headers, and one @ between parts without spaces. */
const ADDRESS = /^[^\s@<>,;:"()\\[\]]+@[^\s@<>,;:"()\\[\]]+$/u;
const HINT_CHARACTERS = 4;

/** The problems of parameters as sent; null: not sent, and the stored ones stay. */
export function actionProblems(
  action: TriggerAction,
  params: SentParams | null,
  { hasSecret }: { readonly hasSecret: boolean },
): readonly Reason[] {
  if (params === null) return [];
  const foreign = Object.keys(params).filter((name) => !(MEMBERS[action] as readonly string[]).includes(name));
  if (foreign.length > 0) {
    return foreign.map((name) => {
      const field = `actionParams.${name}`;
      return customReason(field, `${field} is not a parameter of ${action}`);
    });
  }
  switch (action) {
    case 'SEND_WEBHOOK':
      return [];
    case 'SEND_SLACK_MESSAGE':
      if (params.slackWebhook === undefined && hasSecret) return [];
      return textProblems(params.slackWebhook, 'actionParams.slackWebhook', URL_CHARACTERS_MAX);
    case 'SEND_EMAIL':
      return addressProblems(params.members);
    case 'ADD_TO_DATASET':
      return textProblems(params.datasetId, 'actionParams.datasetId', ID_CHARACTERS_MAX);
    case 'ADD_TO_ANNOTATION_QUEUE':
      return textProblems(params.queueId, 'actionParams.queueId', ID_CHARACTERS_MAX);
  }
}

function textProblems(value: string | undefined, field: string, charactersMax: number): readonly Reason[] {
  if (value !== undefined && value !== '' && value.length <= charactersMax && !value.includes('\0')) return [];
  return [customReason(field, `${field} must be a text of 1 to ${charactersMax} characters`)];
}

function addressProblems(value: readonly string[] = []): readonly Reason[] {
  const field = 'actionParams.members';
  const isAddress = (each: string) => each.length <= ADDRESS_CHARACTERS_MAX && ADDRESS.test(each);
  if (value.length > 0 && value.length <= ADDRESSES_MAX && value.every(isAddress)) return [];
  return [customReason(field, `${field} must be a list of 1 to ${ADDRESSES_MAX} e-mail addresses`)];
}

/** The stored parameters of ones without problems. */
export function storedParams(action: TriggerAction, params: SentParams): ActionParams {
  switch (action) {
    case 'SEND_EMAIL':
      return { members: [...new Set(params.members)] };
    case 'ADD_TO_DATASET':
      return { datasetId: String(params.datasetId) };
    case 'ADD_TO_ANNOTATION_QUEUE':
      return { queueId: String(params.queueId) };
    case 'SEND_SLACK_MESSAGE':
      return { slackWebhookHint: `…${String(params.slackWebhook).slice(-HINT_CHARACTERS)}` };
    case 'SEND_WEBHOOK':
      return {};
  }
}

export type TriggerSecrets = ReturnType<typeof createTriggerSecrets>;

export function createTriggerSecrets(deps: { readonly encryptionKeys: EncryptionKeys; readonly random: RandomBytes }) {
  const bindingOf = (triggerId: string) => ({ keys: deps.encryptionKeys, belongsTo: `triggers/${triggerId}/secret` });
  return {
    seal: (triggerId: string, url: string): Buffer => sealFor(bindingOf(triggerId), Buffer.from(url), deps.random),
    /** Throws for a URL that was sealed for another trigger, or with another secret of the installation. */
    open({ id, secret }: Pick<Trigger, 'id' | 'secret'>): string | null {
      return secret === null ? null : openFor(bindingOf(id), Buffer.from(secret)).toString('utf8');
    },
  };
}
