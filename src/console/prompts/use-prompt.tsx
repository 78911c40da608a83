/** What an application needs to read a prompt. The key comes from its environment. */

import { useState } from 'react';
import type { Prompt } from '../../../gen/spandrel/v1/prompts_pb.js';
import { Snippet } from '../design/button.tsx';
import { SelectField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { toDraft, variablesOf } from './draft.ts';

type UsePromptProps = { readonly prompt: Prompt; readonly tags: readonly string[] };

export function UsePrompt({ prompt, tags }: UsePromptProps) {
  const [named, setNamed] = useState('');
  const options = [
    ['', 'The newest'] as const,
    ...tags.map((tag) => [tag, `Tagged ${nameControls(tag)}`] as const),
    [String(prompt.version), `Version ${prompt.version}, for good`] as const,
  ];
  const spec = named === '' ? prompt.handle : `${prompt.handle}:${named}`;
  const lines = variablesOf(toDraft(prompt)).flatMap(({ name, isUsed }) =>
    isUsed ? [`  ${/^\w+$/.test(name) ? name : JSON.stringify(name)}: '…',`] : [],
  );
  const sdk = [
    "import { LangWatch } from 'langwatch';",
    '',
    `const langwatch = new LangWatch({ endpoint: '${location.origin}' });`,
    `const prompt = await langwatch.prompts.get('${spec}');`,
    ...(lines.length === 0
      ? ['const { messages } = prompt;']
      : ['const { messages } = prompt.compile({', ...lines, '});']),
  ].join('\n');
  const cli = [
    `export LANGWATCH_ENDPOINT="${location.origin}"`,
    `npx langwatch prompt add ${prompt.handle}`,
    'npx langwatch prompt sync',
  ].join('\n');
  const curl = `curl -s "${location.origin}/api/prompts/${spec}" -H "X-Auth-Token: $LANGWATCH_API_KEY"`;
  return (
    <div className={`${page.card} ${page.padded} ${page.narrow}`}>
      <SelectField
        label="Version"
        hint="A tag lets you change the prompt of an application without a release."
        value={named}
        options={options}
        onChange={setNamed}
      />
      <p className={page.soft}>
        The key of the project is in <code>LANGWATCH_API_KEY</code>.
      </p>
      <Snippet title="SDK, JavaScript" code={sdk} />
      <Snippet title="Command line: a copy in your repository" code={cli} />
      <Snippet title="With curl" code={curl} />
    </div>
  );
}
