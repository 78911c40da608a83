/** Tooltips: shows the `title` of what the pointer rests on, or the keyboard reaches, in place of the browser's own box. */

import { lazy, Suspense, useEffect, useState } from 'react';
import { loadsPart } from '../session/connection.ts';

/** Loaded on first use, with the other floating parts. */
const Tip = lazy(loadsPart(async () => ({ default: (await import('./popover-floating.tsx')).Tip })));
const DELAY_MS = 350;

type Shown = { readonly element: HTMLElement; readonly text: string };

/** One for the whole page. */
export function Tips() {
  const [shown, setShown] = useState<Shown | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let taken: Shown | null = null;
    const hide = () => {
      clearTimeout(timer);
      // Its owner may have set another one meanwhile.
      if (taken && !taken.element.hasAttribute('title')) taken.element.setAttribute('title', taken.text);
      taken = null;
      setShown(null);
    };
    const show = (target: EventTarget | null) => {
      const element = target instanceof Element ? target.closest<HTMLElement>('[title]:not([title=""])') : null;
      if (taken && target instanceof Node && taken.element.contains(target)) return;
      hide();
      if (!element) return;
      timer = setTimeout(() => {
        const text = element.getAttribute('title');
        if (!text || !element.isConnected) return;
        // The browser would show it a second time.
        element.removeAttribute('title');
        taken = { element, text };
        setShown(taken);
      }, DELAY_MS);
    };
    const point = ({ target, pointerType }: PointerEvent) => {
      if (pointerType === 'mouse') show(target);
    };
    const reach = ({ target }: FocusEvent) => {
      if (target instanceof Element && target.matches(':focus-visible')) show(target);
    };
    const press = ({ key }: KeyboardEvent) => key === 'Escape' && hide();
    document.addEventListener('pointerover', point);
    document.addEventListener('focusin', reach);
    document.addEventListener('focusout', hide);
    document.addEventListener('keydown', press);
    document.addEventListener('pointerdown', hide);
    document.addEventListener('scroll', hide, { capture: true, passive: true });
    return () => {
      hide();
      document.removeEventListener('pointerover', point);
      document.removeEventListener('focusin', reach);
      document.removeEventListener('focusout', hide);
      document.removeEventListener('keydown', press);
      document.removeEventListener('pointerdown', hide);
      document.removeEventListener('scroll', hide, { capture: true });
    };
  }, []);
  if (shown === null) return null;
  return (
    <Suspense>
      <Tip {...shown} />
    </Suspense>
  );
}
