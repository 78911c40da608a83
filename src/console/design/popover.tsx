/** A button with something small below it: a form, a choice. What floats is fetched when it is first asked for. */

import { lazy, type ReactNode, Suspense, useState } from 'react';
import { buttonClass } from './button.tsx';

export type PopoverProps = {
  /** What stands on the button. */
  readonly label: string;
  /** What the popover is called. */
  readonly title: string;
  readonly children: (close: () => void) => ReactNode;
};

const load = () => import('./popover-floating.tsx');
const Floating = lazy(async () => ({ default: (await load()).PopoverFloating }));

export function Popover(props: PopoverProps) {
  const [isAsked, setAsked] = useState(false);
  const button = (
    <button
      type="button"
      className={buttonClass()}
      aria-haspopup="dialog"
      aria-expanded={false}
      onClick={() => setAsked(true)}
      onPointerEnter={() => void load()}
    >
      {props.label}
    </button>
  );
  if (!isAsked) return button;
  return (
    <Suspense fallback={button}>
      <Floating {...props} />
    </Suspense>
  );
}
