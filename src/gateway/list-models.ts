/** Asks model providers for their models: at addresses that the policy allows, with limits on time and size. */

import type { Readable } from 'node:stream';
import type { ResolveHost, UrlPolicy } from '../domain/endpoints/url-policy.ts';
import type { ListModels, ModelListing } from '../domain/model-providers/model-providers.ts';
import { urlOf } from './data-routes.ts';
import { headersToProvider } from './forwarded-headers.ts';
import { createUpstream } from './upstream.ts';

type ListModelsDeps = {
  readonly policy: UrlPolicy;
  readonly resolve: ResolveHost;
  readonly userAgent: string;
  /** The time of one listing; 15 seconds by default. */
  readonly timeoutMs?: number;
};

const TIMEOUT_MS = 15_000;
const RESPONSE_MAX_BYTES = 4 * 1024 * 1024;
const MODELS_MAX = 1_000;
const MODEL_CHARACTERS_MAX = 256;

export function createListModels({ policy, resolve, userAgent, timeoutMs = TIMEOUT_MS }: ListModelsDeps): ListModels {
  const own = { accept: 'application/json', 'user-agent': userAgent };
  const tooLate = failed(`The provider did not answer within ${timeoutMs} ms.`);
  return async (source) => {
    // Of this listing alone, so that no connection is left.
    const upstream = createUpstream({ policy, resolve });
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await upstream.send({
        method: 'GET',
        url: urlOf(source, { path: '/models', query: '', model: null }),
        headers: headersToProvider(own, source, source.apiKey),
        body: null,
        timeoutMs,
        signal,
      });
      if (signal.aborted) return tooLate;
      if (answer.kind === 'failed') return answer.reason === 'timeout' ? tooLate : failed(answer.message);
      const text = await readText(answer.body);
      if (signal.aborted) return tooLate;
      return typeof text === 'string'
        ? readListing({ status: answer.status, text })
        : { ...text, httpStatus: answer.status };
    } finally {
      await upstream.close();
    }
  };
}

type Answered = { readonly status: number; readonly text: string };
type Failed = Extract<ModelListing, { kind: 'failed' }>;

async function readText(body: Readable): Promise<string | Failed> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > RESPONSE_MAX_BYTES) return failed(`The answer is larger than ${RESPONSE_MAX_BYTES} bytes.`);
      parts.push(part);
    }
  } catch {
    return failed('The connection broke before the answer was complete.');
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Redirects are answers like any other. Says nothing of the body of a refusal: it may repeat the key. */
function readListing({ status, text }: Answered): ModelListing {
  if (status === 401 || status === 403) {
    return failed(`The provider answered ${status}: it does not accept the API key.`, status);
  }
  if (status >= 300 && status < 400) return failed(`The provider answered ${status}, which is not followed.`, status);
  if (status === 404)
    return failed('The provider answered 404: check the base_url, to which /models is added.', status);
  if (status !== 200) return failed(`The provider answered ${status}.`, status);
  const models = readModels(text);
  return models === null
    ? failed('The answer is not a list of models.', status)
    : { kind: 'listed', httpStatus: status, models };
}

/** The ids in the list that the APIs of OpenAI and Anthropic have in common; null: it is not a list. */
function readModels(text: string): readonly string[] | null {
  const items = membersOf(parse(text), 'data');
  if (!Array.isArray(items)) return null;
  const ids = items.map((item: unknown) => membersOf(item, 'id'));
  const isModel = (id: unknown): id is string => typeof id === 'string' && id.length <= MODEL_CHARACTERS_MAX;
  return ids.filter(isModel).slice(0, MODELS_MAX);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function membersOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

function failed(error: string, httpStatus: number | null = null): Failed {
  return { kind: 'failed', httpStatus, error };
}
