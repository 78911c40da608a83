/** A button with a small form below it. The floating part is loaded on first use. */

import { lazy, Suspense, useState } from 'react';
import { loadsPart } from '../session/connection.ts';
import { buttonClass } from './button.tsx';
import type { PopoverProps } from './popover-floating.tsx';

const load = loadsPart(() => import('./popover-floating.tsx'));
const PopoverFloating = lazy(load);

export function Popover(props: PopoverProps) {
  const [isRequested, setRequested] = useState(false);
  const button = (
    <button
      type="button"
      className={buttonClass()}
      aria-haspopup="dialog"
      aria-expanded={false}
      onClick={() => setRequested(true)}
      onPointerEnter={() => void load().catch(() => undefined)}
    >
      {props.label}
    </button>
  );
  if (!isRequested) return button;
  return (
    <Suspense fallback={button}>
      <PopoverFloating {...props} />
    </Suspense>
  );
}
