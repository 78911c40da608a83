import type { Keys } from '../sides.ts';
import type { RequestSource } from './http.ts';
import { bearer, cycle } from './requests.ts';

const model = 'gpt-5-mini';
const limitUsd = '1000000';

/** A virtual key of a running server, and what its budget says. */
export type Gateway = { readonly secret: string; readSpentUsd(): Promise<string> };

type GatewayOf = {
  readonly port: number;
  readonly keys: Keys;
  readonly providerPort: number;
  /** `bare`: without a budget, and without the texts in the traces. */
  readonly isBare: boolean;
};

/** Gives a fresh server a provider and a virtual key, by default with a budget that blocks. */
export async function openGateway({ port, keys, providerPort, isBare }: GatewayOf): Promise<Gateway> {
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${keys.adminKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`/api/${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  const { data: projects } = (await ask('projects')) as { readonly data: readonly { readonly id: string }[] };
  const provider = { name: 'mock', kind: 'openai_compatible', base_url: `http://127.0.0.1:${providerPort}/v1` };
  await ask('gateway/v1/model-providers', provider);
  const created = (await ask('gateway/v1/virtual-keys', {
    name: 'bench',
    trace_project_id: projects[0]?.id,
    config: { capture: isBare ? 'metadata' : 'full' },
  })) as { readonly virtual_key: { readonly id: string }; readonly secret: string };
  const { secret, virtual_key: key } = created;
  if (isBare) return { secret, readSpentUsd: async () => 'nothing' };
  const { budget } = (await ask('gateway/v1/budgets', {
    ...{ name: 'bench', scope: { kind: 'virtual_key', id: key.id }, window: 'day' },
    ...{ limit_usd: limitUsd, on_breach: 'block' },
  })) as { readonly budget: { readonly id: string } };
  return {
    secret,
    async readSpentUsd() {
      const read = (await ask(`gateway/v1/budgets/${budget.id}`)) as {
        readonly budget: { readonly spent_usd: string };
      };
      return read.budget.spent_usd;
    },
  };
}

/** The same request of chat for all sides, with what the peer needs to find the provider. */
export function chatRequests({ secret, providerPort, isStream }: ChatRequest): () => RequestSource {
  const messages = [
    { role: 'system', content: 'You answer in one short paragraph, and say so when you do not know.' },
    { role: 'user', content: 'What does a gateway in front of language models do? '.repeat(4) },
  ];
  const streamed = isStream ? { stream: true, stream_options: { include_usage: true } } : {};
  const body = JSON.stringify({ model, messages, max_completion_tokens: 256, ...streamed });
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'Host: 127.0.0.1',
    bearer(secret),
    'Content-Type: application/json',
    'x-portkey-provider: openai',
    `x-portkey-custom-host: http://127.0.0.1:${providerPort}/v1`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '\r\n',
  ];
  return cycle([Buffer.from(head.join('\r\n') + body, 'latin1')]);
}

type ChatRequest = { readonly secret: string; readonly providerPort: number; readonly isStream: boolean };
