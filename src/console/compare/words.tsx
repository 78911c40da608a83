/** The words of two texts: what both have, what only the first has, and what only the second has. */

import { joined } from '../design/button.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import styles from './compare.module.css';
import type { Run } from './diff.ts';

const MARKS = { removed: 'del', added: 'ins', same: 'span' } as const;

type WordsProps = {
  readonly runs: readonly Run[];
  /** Beside the words of both, those of one text or of either. */
  readonly side: 'removed' | 'added' | 'either';
};

export function Words({ runs, side }: WordsProps) {
  const shown = side === 'either' ? runs : runs.filter(({ kind }) => kind === 'same' || kind === side);
  return (
    <p className={joined(page.prose, styles.words)} dir="auto">
      {shown.map(({ kind, text }, index) => {
        const Mark = MARKS[kind];
        // biome-ignore lint/suspicious/noArrayIndexKey: the runs of two texts never change.
        return <Mark key={index}>{nameControls(text)}</Mark>;
      })}
    </p>
  );
}
