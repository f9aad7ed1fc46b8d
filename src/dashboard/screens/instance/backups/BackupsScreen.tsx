import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Archive } from 'lucide-react'
import { useState } from 'react'
import { answer, app } from '../../../api/client.ts'
import type { components } from '../../../api/generated/app.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { EmptyState } from '../../../components/feedback/EmptyState.tsx'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { ConfirmDialog } from '../../../components/overlays/ConfirmDialog.tsx'
import { Bytes, Count } from '../../../components/text/Amount.tsx'
import { CodeBlock } from '../../../components/text/CodeBlock.tsx'
import { Status } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { TaskState } from '../tasks/TaskState.tsx'
import { isAnyRunning, latestTask, useTasks } from '../tasks/tasks.ts'
import { backupStrings as strings } from './strings.ts'
import { type Verified, VerifyResult } from './VerifyResult.tsx'

type Backup = components['schemas']['Backup']

/** `/app/instance/backups`. */
export function BackupsScreen() {
  const queryClient = useQueryClient()
  const tasks = useTasks()
  const task = latestTask(tasks, 'backup_verify')
  const [chosen, setChosen] = useState<Backup | null>(null)
  const { data, error } = useQuery({
    // What was proven is new once the task has ended.
    queryKey: ['instance', 'backups', task?.state === 'running' ? null : task?.id],
    queryFn: () => answer(app.GET('/app/api/instance/backups')),
    placeholderData: previous => previous,
  })
  const isBusy = isAnyRunning(tasks)
  return (
    <>
      <PageHeader title={strings.title}>
        {strings.hint} {data?.folder && strings.folder(data.folder)}
      </PageHeader>
      <div className="mb-5 flex flex-col gap-3 empty:hidden">
        {error && <Refusal error={error} />}
        {data?.problem && <Notice tone="bad" title={data.problem} />}
        {data && data.folder === null && data.data.length > 0 && (
          <Notice tone="info" title={strings.noFolder}>
            {strings.noFolderHint}
          </Notice>
        )}
        <TaskState task={task} title={strings.verifying(task?.subject ?? '')}>
          {result => <VerifyResult result={result as Verified} />}
        </TaskState>
      </div>
      {!data && !error && <SkeletonRows />}
      {data?.data.length === 0 && (
        <EmptyState
          icon={<Archive />}
          title={strings.empty}
          action={<CodeBlock label={strings.commandLabel} code={strings.command} />}
        >
          {strings.emptyHint}
        </EmptyState>
      )}
      {data && data.data.length > 0 && (
        <Table
          label={strings.title}
          rows={data.data}
          rowKey={({ id }) => id}
          columns={[
            {
              key: 'id',
              label: strings.id,
              isTitle: true,
              isWide: true,
              cell: ({ id, damage }) => (
                <span className="font-mono text-sm" title={damage ?? undefined}>
                  {id}
                </span>
              ),
            },
            { key: 'made', label: strings.made, cell: row => <Time at={row.finished_at} none={strings.none} /> },
            { key: 'size', label: strings.size, align: 'right', cell: ({ bytes }) => <OptionalBytes value={bytes} /> },
            {
              key: 'written',
              label: strings.written,
              align: 'right',
              cell: row => <OptionalBytes value={row.new_bytes} />,
            },
            {
              key: 'messages',
              label: strings.messages,
              align: 'right',
              cell: ({ messages }) => (messages === null ? strings.none : <Count value={messages} />),
            },
            {
              key: 'encryption',
              label: strings.encryption,
              cell: ({ encryption }) => (encryption === null ? strings.none : strings.encryptions[encryption]),
            },
            { key: 'proof', label: strings.proof, cell: backup => <Proof backup={backup} /> },
            {
              key: 'verify',
              label: strings.verify,
              isActions: true,
              cell: backup =>
                backup.is_in_folder ? (
                  <Button
                    size="small"
                    isBusy={isBusy}
                    aria-label={strings.verifyOf(backup.id)}
                    onClick={() => setChosen(backup)}
                  >
                    {strings.verify}
                  </Button>
                ) : null,
            },
          ]}
        />
      )}
      {chosen && (
        <ConfirmDialog
          isOpen
          onClose={() => setChosen(null)}
          title={strings.confirm(chosen.id)}
          action={strings.verify}
          onConfirm={async () => {
            const params = { path: { id: chosen.id } }
            await answer(app.POST('/app/api/instance/backups/{id}/verify', { params, body: {} }))
            await queryClient.invalidateQueries({ queryKey: ['tasks'] })
          }}
        >
          {chosen.encryption === 'age' ? strings.ageHint : strings.confirmHint}
        </ConfirmDialog>
      )}
    </>
  )
}

function OptionalBytes({ value }: { readonly value: number | null }) {
  return value === null ? strings.none : <Bytes value={value} />
}

function Proof({ backup: { proven_at, refuted_at, damage, is_in_folder: isInFolder } }: { readonly backup: Backup }) {
  if (damage !== null || (refuted_at ?? '') > (proven_at ?? '')) return <Status tone="bad">{strings.refuted}</Status>
  if (proven_at !== null)
    return (
      <Status tone="good">
        <Time at={proven_at} />
      </Status>
    )
  return <Status tone="off">{isInFolder ? strings.unproven : strings.missing}</Status>
}
