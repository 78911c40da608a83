import { createClient } from '@connectrpc/connect';
import { useTransport } from '@connectrpc/connect-query';
import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { Progress } from '../design/button.tsx';
import { type EntryText, partsThere, type Target, type Upload, uploadParts } from './upload-parts.ts';

type Uploading = { readonly source: EntryText; readonly onDone: (datasetId: string) => unknown };

/** Uploads entries and reports progress. After a failure, the next try goes on where it failed. */
export function useUpload({ source, onDone }: Uploading) {
  const transport = useTransport();
  const [upload, setUpload] = useState<Upload | null>(null);
  const [failed, setFailed] = useState<Upload | null>(null);
  const mutation = useMutation({
    async mutationFn(target: Target) {
      const client = createClient(DatasetService, transport);
      let last = failed;
      const onStep = (step: Upload) => {
        setUpload(step);
        // A try that added nothing leaves the one before to go on with.
        if (step.done > 0) last = step;
      };
      try {
        return await uploadParts({ client, target, source, failed, onStep });
      } catch (error) {
        setFailed(last);
        throw error;
      }
    },
    onSuccess: onDone,
  });
  /** Whether the next try sends what is left of this source, and not all of it. */
  const goesOn = useMemo(() => partsThere(failed, source) > 0, [failed, source]);
  return { upload, mutation, goesOn, madeId: failed?.datasetId ?? null };
}

type UploadStateProps = { readonly upload: Upload | null; readonly error: unknown };

/** Shows the progress of an upload, and how much of a failed one stays. */
export function UploadState({ upload, error }: UploadStateProps) {
  return (
    <div role="status">
      {upload && upload.parts.length > 1 && (
        <>
          <Progress label="Uploaded parts" done={upload.done} all={upload.parts.length} />
          <p>
            {upload.done} of {upload.parts.length} parts are there
            {error != null && upload.done > 0 && ', and stay'}.
          </p>
        </>
      )}
    </div>
  );
}
