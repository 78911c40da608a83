import type { ReactNode } from 'react';
import { Button, Snippet } from './button.tsx';
import { Modal } from './confirm.tsx';

type SecretOnceProps = {
  /** Null closes the dialog. */
  readonly secret: string | null;
  readonly title: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
};

/** Shows a secret that the server returns only once. */
export function SecretOnce({ secret, title, onClose, children }: SecretOnceProps) {
  return (
    <Modal open={secret !== null} onClose={onClose} title={title} closedBy="button">
      <p>Store it now: it is shown only this once.</p>
      <Snippet title="Secret" code={secret ?? ''} />
      {children}
      <div>
        <Button variant="primary" onClick={onClose}>
          I have stored it
        </Button>
      </div>
    </Modal>
  );
}
