/** What an application needs to use a virtual key, by its SDK. The secret comes from its environment. */

import { useState } from 'react';
import { Snippet } from '../design/button.tsx';
import { Tabs } from '../design/tabs.tsx';

const VARIABLE = 'SPANDREL_VIRTUAL_KEY';

const SDKS = [
  ['openai-js', 'OpenAI, JavaScript'],
  ['openai-python', 'OpenAI, Python'],
  ['anthropic', 'Anthropic'],
  ['vercel', 'Vercel AI SDK'],
] as const;

type Sdk = (typeof SDKS)[number][0];

type ConnectProps = {
  /** The names of models that the key allows, in which * stands for any characters; empty: all. */
  readonly models: readonly string[];
};

export function Connect({ models }: ConnectProps) {
  const [sdk, setSdk] = useState<Sdk>('openai-js');
  return (
    <>
      <Tabs label="SDKs" tabs={SDKS} shown={sdk} onShow={setSdk} />
      <Snippet title={`With the secret in ${VARIABLE}`} code={codeOf(sdk, models)} />
    </>
  );
}

function codeOf(sdk: Sdk, models: readonly string[]): string {
  const url = location.origin;
  const named = models.filter((name) => !name.includes('*'));
  const claude = named.find((name) => name.includes('claude')) ?? 'claude-sonnet-4-5';
  const gpt = named.find((name) => !name.includes('claude')) ?? 'gpt-5-mini';
  switch (sdk) {
    case 'openai-js':
      return linesOf(
        "import { env } from 'node:process';",
        "import OpenAI from 'openai';",
        '',
        `const client = new OpenAI({ apiKey: env.${VARIABLE}, baseURL: '${url}/v1' });`,
        'const answer = await client.chat.completions.create({',
        `  model: ${JSON.stringify(gpt)},`,
        "  messages: [{ role: 'user', content: 'Hello' }],",
        '});',
        'console.log(answer.choices[0].message.content);',
      );
    case 'openai-python':
      return linesOf(
        'import os',
        'from openai import OpenAI',
        '',
        `client = OpenAI(api_key=os.environ["${VARIABLE}"], base_url="${url}/v1")`,
        'answer = client.chat.completions.create(',
        `    model=${JSON.stringify(gpt)},`,
        '    messages=[{"role": "user", "content": "Hello"}],',
        ')',
        'print(answer.choices[0].message.content)',
      );
    case 'anthropic':
      return linesOf(
        "import { env } from 'node:process';",
        "import Anthropic from '@anthropic-ai/sdk';",
        '',
        '// Without /v1: this SDK adds it.',
        `const client = new Anthropic({ apiKey: env.${VARIABLE}, baseURL: '${url}' });`,
        'const answer = await client.messages.create({',
        `  model: ${JSON.stringify(claude)},`,
        '  max_tokens: 1024,',
        "  messages: [{ role: 'user', content: 'Hello' }],",
        '});',
        'console.log(answer.content[0].text);',
      );
    case 'vercel':
      return linesOf(
        "import { env } from 'node:process';",
        "import { createOpenAI } from '@ai-sdk/openai';",
        "import { generateText } from 'ai';",
        '',
        `const gateway = createOpenAI({ apiKey: env.${VARIABLE}, baseURL: '${url}/v1' });`,
        `const { text } = await generateText({ model: gateway(${JSON.stringify(gpt)}), prompt: 'Hello' });`,
        'console.log(text);',
      );
  }
}

function linesOf(...lines: readonly string[]): string {
  return lines.join('\n');
}
