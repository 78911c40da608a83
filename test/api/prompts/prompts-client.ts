/** Calls of prompts over REST. */

import { expect } from 'vitest';
import type { TestApp } from '../../support/app.ts';
import { type Body, callRest } from '../../support/surfaces.ts';

let made = 0;

/** A handle that no other prompt has. */
export function freshHandle(name = 'prompt'): string {
  made += 1;
  return `${name}-${made}`;
}

type Sent = { readonly body?: object; readonly key?: string };

export async function send(app: TestApp, verb: string, path: string, { body, key = app.projectKey }: Sent = {}) {
  const headers = { 'x-auth-token': key };
  return await callRest(app.address, { verb, path: `/api/prompts${path}`, headers, ...(body && { body }) });
}

/** The body of a success. */
export async function act(app: TestApp, verb: string, path: string, sent: Sent = {}): Promise<Body> {
  const { status, body, text } = await send(app, verb, path, sent);
  expect(status, text).toBeLessThan(300);
  return body;
}

export function createPrompt(app: TestApp, body: object = {}): Promise<Body> {
  return act(app, 'POST', '', { body: { handle: freshHandle(), prompt: 'You greet {{name}}.', ...body } });
}

/** The content of a local file. */
export const FILE = {
  model: 'openai/gpt-5',
  prompt: 'You greet {{name}}.',
  messages: [{ role: 'user', content: '{{input}}' }],
  inputs: [{ identifier: 'input', type: 'str' }],
  outputs: [{ identifier: 'output', type: 'str' }],
};

export const inPath = (handle: string) => `/${encodeURIComponent(handle)}`;
