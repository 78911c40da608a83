/** A choice of permissions: resources as rows, actions as columns. */

import { useMemo, useState } from 'react';
import type { Permission } from '../../../gen/spandrel/v1/permissions_pb.js';
import { Check } from '../design/form.tsx';
import page from '../design/page.module.css';
import { byResource } from './effect.ts';

type MatrixProps = {
  readonly catalogue: readonly Permission[];
  readonly chosen: ReadonlySet<string>;
  readonly granted: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
};

export function PermissionMatrix({ catalogue, chosen, granted, onChange }: MatrixProps) {
  const [showsAll, setShowsAll] = useState(false);
  const rows = useMemo(
    () => byResource(showsAll ? catalogue : catalogue.filter(({ operations }) => operations.length > 0)),
    [catalogue, showsAll],
  );
  const toggle = (name: string, isOn: boolean) => {
    const next = new Set(chosen);
    if (isOn) next.add(name);
    else next.delete(name);
    onChange(next);
  };
  return (
    <fieldset className={page.group}>
      <legend>Permissions</legend>
      <div className={page.scroll}>
        <table className={page.table}>
          <tbody>
            {[...rows].map(([resource, permissions]) => (
              <tr key={resource}>
                <th scope="row">{resource}</th>
                <td>
                  <div className={page.row}>
                    {permissions.map(({ name, description }) => {
                      const isImplied = granted.has(name) && !chosen.has(name);
                      return (
                        <Check
                          key={name}
                          title={description}
                          aria-label={name}
                          checked={chosen.has(name) || isImplied}
                          disabled={isImplied}
                          onChange={(isOn) => toggle(name, isOn)}
                        >
                          {name.slice(resource.length + 1)}
                        </Check>
                      );
                    })}
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Check checked={showsAll} onChange={setShowsAll}>
        Show permissions that nothing on this server needs yet
      </Check>
    </fieldset>
  );
}
