/** Requests about an organization, as an administrator or another caller. */

import type { DescMethodUnary, MessageInitShape } from '@bufbuild/protobuf';
import { expect } from 'vitest';
import type { TestApp } from '../../support/app.ts';
import { type Body, callRest, expectEverywhere, type RestCase, type SurfaceCase } from '../../support/surfaces.ts';

export const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** An id with this prefix. */
export function anyId(prefix: string) {
  return expect.stringMatching(new RegExp(`^${prefix}_[0-9A-Za-z]{21}$`));
}

export function bearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/** Sends a request as the first administrator; throws on failure. */
export async function act(app: TestApp, verb: string, path: string, body?: object): Promise<Body> {
  const sent = body === undefined ? {} : { body };
  const answer = await callRest(app.address, { verb, path, headers: bearer(app.adminKey), ...sent });
  if (answer.status >= 300) throw new Error(`${verb} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

type Both<M extends DescMethodUnary> = {
  readonly rest: RestCase;
  readonly method: M;
  readonly request: MessageInitShape<M['input']>;
};

/** Sends a request everywhere, as the first administrator. */
export function askAll<M extends DescMethodUnary>(
  app: TestApp,
  { rest, method, request }: Both<M>,
  wanted: Partial<Pick<SurfaceCase, 'headers' | 'code' | 'check'>> & { readonly status: number },
): Promise<void> {
  const name = `${rest.verb ?? 'GET'} ${rest.path}`;
  return expectEverywhere(app.address, {
    name,
    rest,
    rpc: { method, request },
    headers: bearer(app.adminKey),
    ...wanted,
  } as SurfaceCase);
}

/** Expects refusals without a credential, with a wrong one, and with a project key. */
export async function expectOnlyApiKeys<M extends DescMethodUnary>(app: TestApp, both: Both<M>): Promise<void> {
  await askAll(app, both, { headers: {}, status: 401, code: 'missing_credentials' });
  await askAll(app, both, { headers: bearer('nope'), status: 401, code: 'invalid_credentials' });
  await askAll(app, both, { headers: bearer(app.projectKey), status: 401, code: 'credential_class_mismatch' });
}
