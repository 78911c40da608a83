import { useEffect, useSyncExternalStore } from 'react';
import { type AnnotationDraft, EMPTY_DRAFT, type OpenAnnotation, type Subject } from './annotation-draft.ts';
import { dropAnnotation, hasUnsaved, keepAnnotation, recallAnnotation, watchAnnotations } from './open-annotations.ts';

/** The form of one trace. */
export function useOpenAnnotation(key: string) {
  const annotation = useSyncExternalStore(watchAnnotations, () => recallAnnotation(key));
  // An empty form is not worth coming back to.
  useEffect(
    () => () => {
      if (!hasUnsaved(key)) dropAnnotation(key);
    },
    [key],
  );
  const set = (part: Partial<OpenAnnotation>) => {
    const now = recallAnnotation(key);
    if (now !== null) keepAnnotation(key, { ...now, ...part });
  };
  return {
    annotation,
    /** One that is open stays as it is. */
    open: (subject: Subject) => annotation === null && keepAnnotation(key, { subject, draft: EMPTY_DRAFT }),
    change: (part: Partial<AnnotationDraft>) =>
      set({ draft: { ...(recallAnnotation(key)?.draft ?? EMPTY_DRAFT), ...part } }),
    move: (subject: Subject) => set({ subject }),
    close: () => dropAnnotation(key),
  };
}
