/** A text that may be Markdown. The parser is loaded when the first one is shown; until then the text is shown as it is. */

import { lazy, Suspense, useState } from 'react';
import { Button } from '../design/button.tsx';
import { formatBytes, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';

type TextProps = { readonly text: string };

/** Without the parser, which a server that is away cannot send, a text is still readable. */
const Markdown = lazy(() => import('./markdown.tsx').catch(() => ({ default: PlainText })));

/** Longer texts are shown on request: they would take the browser more than a frame. */
const FIRST_CHARACTERS = 8_000;
const MORE_CHARACTERS = 50_000;

export function MarkdownText({ text }: TextProps) {
  const [shown, setShown] = useState(FIRST_CHARACTERS);
  const part = text.length > shown ? text.slice(0, endOfLine(text, shown)) : text;
  return (
    <div>
      <Suspense fallback={<PlainText text={part} />}>
        <Markdown text={part} />
      </Suspense>
      {part.length < text.length && (
        <Button small onClick={() => setShown(shown + MORE_CHARACTERS)}>
          Show more of {formatBytes(text.length)}
        </Button>
      )}
    </div>
  );
}

function PlainText({ text }: TextProps) {
  return (
    <p className={page.prose} dir="auto">
      {nameControls(text)}
    </p>
  );
}

/** A text is cut between lines, so that no mark is torn, unless its last line is very long. */
function endOfLine(text: string, end: number): number {
  const line = text.lastIndexOf('\n', end);
  return line > end / 2 ? line : end;
}
