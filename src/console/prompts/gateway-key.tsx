/** The choice of the virtual key that prompts are tried with: one of the project that still works. */

import { useQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { VirtualKeyService, VirtualKeyStatus } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import { SelectField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import { Pending } from '../design/page.tsx';
import { useRemembered } from '../design/remembered.ts';
import { useProject, useSession } from '../session/session.tsx';

const KEYS_MAX = 200;

export type GatewayKey = {
  /** Null: there is none to use. */
  readonly id: string | null;
  /** The field, or why there is none. */
  readonly field: ReactNode;
};

export function useGatewayKey(): GatewayKey {
  const project = useProject();
  const { may, account } = useSession();
  const mayUse = !account.isOfProject && may('virtualKeys:view') && may('virtualKeys:rotate');
  const [chosen, choose] = useRemembered(`promptKey.${project.id}`, (kept) => (typeof kept === 'string' ? kept : null));
  const found = useQuery(VirtualKeyService.method.listVirtualKeys, { pageSize: KEYS_MAX }, { enabled: mayUse });
  if (!mayUse) {
    const field = (
      <p>
        Models are asked with a virtual key of the gateway: for that you need the permissions{' '}
        <code>virtualKeys:view</code> and <code>virtualKeys:rotate</code>
        {account.isOfProject && ', which no session of a project key has'}.
      </p>
    );
    return { id: null, field };
  }
  if (!found.data) return { id: null, field: <Pending found={found} /> };
  const keys = found.data.data.filter(
    ({ traceProjectId, status }) => traceProjectId === project.id && status === VirtualKeyStatus.ACTIVE,
  );
  const id = keys.find((key) => key.id === chosen)?.id ?? keys[0]?.id ?? null;
  if (id === null) {
    const field = (
      <p>
        Models are asked with a virtual key of the gateway, and this project has none that works.{' '}
        <Link to="/-/virtual-keys/new">Create a virtual key</Link>
      </p>
    );
    return { id, field };
  }
  const options = keys.map((key) => [key.id, nameControls(key.name ?? key.id)] as const);
  const hint = 'Its models, limits and budgets apply.';
  return { id, field: <SelectField label="Virtual key" hint={hint} value={id} options={options} onChange={choose} /> };
}
