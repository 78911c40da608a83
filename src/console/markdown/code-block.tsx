/** Code of a message. The highlighter is loaded when the first code in a language that it knows is shown. */

import { useEffect, useState } from 'react';
import { CopyButton } from '../design/button.tsx';
import { nameControls } from '../design/format.ts';
import styles from './markdown.module.css';

type Colored = { readonly kind: string; readonly text: string };

/** Longer code is shown in one colour: each token is an element. */
const HIGHLIGHTED_CHARACTERS = 10_000;

export function CodeBlock({ code, language }: { readonly code: string; readonly language: string }) {
  const [colored, setColored] = useState<readonly Colored[] | null>(null);
  useEffect(() => {
    if (language === '' || code.length > HIGHLIGHTED_CHARACTERS) return;
    let isShown = true;
    highlight(code, language).then(
      (found) => isShown && setColored(found),
      // Without the highlighter, which a server that is away cannot send, code is still readable.
      () => undefined,
    );
    return () => {
      isShown = false;
    };
  }, [code, language]);
  return (
    <div className={styles.code}>
      <div className={styles.codeHead}>
        <span>{nameControls(language.slice(0, 40))}</span>
        <CopyButton text={code} />
      </div>
      <pre tabIndex={0}>
        {colored === null
          ? nameControls(code)
          : colored.map(({ kind, text }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of a text never change.
              <span key={index} className={styles[kind]}>
                {nameControls(text)}
              </span>
            ))}
      </pre>
    </div>
  );
}

/** Null for a language that is not known. The lexer reads a text once, so hostile code cannot make it slow. */
async function highlight(code: string, language: string): Promise<readonly Colored[] | null> {
  const [{ SugarHigh, tokenize }, { lang, languages }] = await Promise.all([
    import('sugar-high/core'),
    import('sugar-high/lang'),
  ]);
  const id = lang(language.toLowerCase());
  if (id === undefined || id === 'plaintext') return null;
  const tokens = tokenize(code, languages.find((each) => each.id === id)?.config);
  const colored: { kind: string; text: string }[] = [];
  for (const [type, text] of tokens) {
    const kind = SugarHigh.TokenTypes[type] ?? 'identifier';
    const last = colored.at(-1);
    if (last?.kind === kind) last.text += text;
    else colored.push({ kind, text });
  }
  // A lexer that loses a character would hide what was sent.
  return colored.map(({ text }) => text).join('') === code ? colored : null;
}
