/** The settings of the organization. */

import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { type Organization, OrganizationService } from '../../../gen/spandrel/v1/organization_pb.js';
import { Button, CopyButton, Field, Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';

const NAME_CHARACTERS = 255;

export function OrganizationPage() {
  const { may } = useSession();
  const found = useQuery(OrganizationService.method.getOrganization);
  const organization = found.data?.organization;
  return (
    <div className={page.page}>
      <h1>Organization</h1>
      {found.isPending && <Loading />}
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {organization && (
        <>
          <p className={page.row}>
            <span className={page.mono}>{organization.id}</span> <CopyButton text={organization.id}>Copy id</CopyButton>
          </p>
          <p className={page.sub}>
            {nameControls(organization.slug)} · made <Instant at={organization.createdAt} />
          </p>
          {may('organization:manage') && <Change key={organization.id} organization={organization} />}
        </>
      )}
    </div>
  );
}

function Change({ organization }: { readonly organization: Organization }) {
  const [name, setName] = useState(organization.name ?? '');
  const refresh = useRefresh();
  const update = useMutation(OrganizationService.method.updateOrganization, { onSuccess: refresh });
  return (
    <form
      className={`${page.card} ${page.padded} ${page.narrow}`}
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate({ organization: { name: name.trim() }, updateMask: { paths: ['name'] } });
      }}
    >
      <Field label="Name">
        {(props) => (
          <input {...props} maxLength={NAME_CHARACTERS} value={name} onChange={({ target }) => setName(target.value)} />
        )}
      </Field>
      {update.isError && <FailureNotice error={update.error} />}
      <div className={page.row}>
        <Button type="submit" variant="primary" disabled={update.isPending || name.trim() === ''}>
          Save
        </Button>
        <span role="status">{update.isSuccess && 'Saved.'}</span>
      </div>
    </form>
  );
}
