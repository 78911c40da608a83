/** Shows the answer to a query, and while a new one is read, the one before. */

import type { MouseEvent, ReactNode } from 'react';
import { joined } from './button.tsx';
import page from './page.module.css';
import status from './status.module.css';

type AnswerProps = {
  /** Whether it answers what was asked before, for example about another range. */
  readonly isOld: boolean;
  readonly children: ReactNode;
};

/** An old answer is dimmed and said to be old. Nothing in it can be clicked: it would act on what is no longer asked for. */
export function Answer({ isOld, children }: AnswerProps) {
  return (
    <div
      className={joined(page.answer, isOld && page.old)}
      aria-busy={isOld}
      // Unlike `inert`, this leaves the focus where it is.
      onClickCapture={isOld ? ignore : undefined}
    >
      <span role="status" className={status.unseen}>
        {isOld && 'Loading…'}
      </span>
      {children}
    </div>
  );
}

function ignore(event: MouseEvent): void {
  event.preventDefault();
  event.stopPropagation();
}

type Asked<Data> = { readonly data: Data | undefined; readonly isPlaceholderData: boolean };

/** The answer to what is asked now; undefined until it is read. */
export function currentData<Data>({ data, isPlaceholderData }: Asked<Data>): Data | undefined {
  return isPlaceholderData ? undefined : data;
}
