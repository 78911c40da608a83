import { describe, expect, it } from 'vitest';
import { evaluate } from './running.ts';

const NONE: readonly string[] = [`task-${'a'.repeat(30)}`, 'AKIA123', 'http://localhost:3000/@x', ''];

/** Each text holds one secret, of the named kind. */
const SECRETS: readonly (readonly [rule: string, text: string])[] = [
  ['private_key', '-----BEGIN RSA PRIVATE KEY-----'],
  ['private_key', '-----BEGIN PGP PRIVATE KEY BLOCK-----'],
  ['aws_access_key_id', 'key AKIAIOSFODNN7EXAMPLE ok'],
  ['anthropic_api_key', `sk-ant-${'b'.repeat(24)}`],
  ['platform_api_key', `ik-lw-${'p'.repeat(20)}`],
  ['openai_api_key', `sk-proj-${'o'.repeat(20)}`],
  ['stripe_secret_key', `rk_live_${'s'.repeat(16)}`],
  ['slack_token', `xoxb-${'1'.repeat(10)}`],
  ['github_token', `ghp_${'a'.repeat(36)}`],
  ['gitlab_token', `glpat-${'g'.repeat(20)}`],
  ['google_api_key', `AIza${'G'.repeat(35)}`],
  ['huggingface_token', `hf_${'h'.repeat(30)}`],
  ['npm_token', `npm_${'n'.repeat(36)}`],
  ['jwt', `eyJ${'h'.repeat(8)}.eyJ${'p'.repeat(8)}.${'s'.repeat(10)}`],
  ['url_credentials', 'postgres://user:hunter2@db.local/x'],
];

const find = (data: { input?: string; output?: string }) =>
  evaluate('langwatch/api_keys_and_secrets_detection', { data });

describe('api_keys_and_secrets_detection', () => {
  it.each(SECRETS)('finds %s in %j', async (rule, output) => {
    const details = `Detected 1 secret(s): ${rule} (1)`;
    expect(await find({ output })).toMatchObject({ score: 1, passed: false, details });
  });

  it.each(NONE)('finds none in %j', async (input) => {
    expect(await find({ input })).toMatchObject({ score: 0, passed: true, details: null });
  });

  it('counts what several rules would find once, over both texts, in the order of the rules', async () => {
    const both = `sk-ant-${'b'.repeat(24)} and sk-${'c'.repeat(32)}`;
    const details = 'Detected 4 secret(s): aws_access_key_id (1), anthropic_api_key (1), openai_api_key (2)';
    expect(await find({ input: both, output: `sk-${'d'.repeat(20)}, AKIAIOSFODNN7EXAMPLE` })).toMatchObject({
      score: 4,
      details,
    });
  });

  it('finds no secret inside another one', async () => {
    const output = `https://user:${'AKIAIOSFODNN7EXAMPLE'}@host.example`;
    expect(await find({ output })).toMatchObject({ score: 1, details: 'Detected 1 secret(s): aws_access_key_id (1)' });
  });
});
