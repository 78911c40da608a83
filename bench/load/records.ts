import { randomBytes } from 'node:crypto';
import type { RequestSource } from './http.ts';

const path = '/api/gateway/v1/requests';

/** Reports of finished requests as gateways send them; each record becomes one event. */
export function recordRequests(projectKey: string, recordsPerCall: number): () => RequestSource {
  const run = randomBytes(6).toString('hex');
  let records = 0;
  const next = (): Buffer => {
    const occurredAt = Date.now() - 20;
    const batch = Array.from({ length: recordsPerCall }, () => {
      records += 1;
      return createRecord(`gw-${run}-${String(records).padStart(10, '0')}`, occurredAt);
    });
    const body = Buffer.from(JSON.stringify({ records: batch }));
    const head =
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Auth-Token: ${projectKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head, 'latin1'), body]);
  };
  return () => ({ next, read: (body) => checkAccepted(body, recordsPerCall) });
}

function createRecord(id: string, occurredAt: number): object {
  return {
    gateway_request_id: id,
    status: 'success',
    occurred_at: occurredAt,
    virtual_key_id: 'vk_5f2c91',
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    principal_user_id: 'user_5f2c91',
    end_user_id: 'customer_17',
    model: 'gpt-4o-mini',
    model_provider_id: 'openai',
    request_type: 'chat',
    usage: { input_tokens: 412, output_tokens: 57 },
    cost_usd: '0.000096',
    duration_ms: 1_240,
    labels: ['production', 'support'],
    metadata: { thread_id: 'thread_80b1d4', region: 'eu-central-1' },
  };
}

/** HTTP 200 may include refused records, which create no event. */
function checkAccepted(body: Buffer, records: number): void {
  const answer: { accepted?: number } = JSON.parse(body.toString('utf8'));
  if (answer.accepted !== records) throw new Error(`Not all records were accepted: ${body.toString('utf8', 0, 400)}`);
}
