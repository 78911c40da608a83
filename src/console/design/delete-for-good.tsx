import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { Confirm } from './confirm.tsx';
import { nameControls } from './format.ts';

type DeleteForGoodProps = {
  /** The text of the button. */
  readonly label: string;
  readonly name: string;
  readonly pending: boolean;
  readonly error: unknown;
  readonly onDelete: () => void;
  /** The consequences. */
  readonly children: ReactNode;
};

/** A button that asks for the word "delete" before it deletes a record. */
export function DeleteForGood({ label, name, pending, error, onDelete, children }: DeleteForGoodProps) {
  const [isConfirming, setConfirming] = useState(false);
  return (
    <>
      <Button variant="danger" onClick={() => setConfirming(true)}>
        {label}
      </Button>
      <Confirm
        open={isConfirming}
        onClose={() => setConfirming(false)}
        title={`Delete ${nameControls(name)}`}
        action="Delete permanently"
        typed="delete"
        pending={pending}
        error={error}
        onConfirm={onDelete}
      >
        {children}
      </Confirm>
    </>
  );
}
