/** Shows a text; of a long one only the beginning, and more on request. */

import { useState } from 'react';
import { Button, joined } from '../design/button.tsx';
import { formatBytes, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import styles from './detail.module.css';

const FIRST_CHARACTERS = 8_000;
const MORE_CHARACTERS = 100_000;

export function LongText({ text, code = false }: { readonly text: string; readonly code?: boolean }) {
  const [shown, setShown] = useState(FIRST_CHARACTERS);
  return (
    <div>
      <pre className={joined(page.prose, styles.text, code && styles.code)} dir="auto">
        {nameControls(text.slice(0, shown))}
      </pre>
      {text.length > shown && (
        <Button small onClick={() => setShown(shown + MORE_CHARACTERS)}>
          Show more of {formatBytes(text.length)}
        </Button>
      )}
    </div>
  );
}
