import { useState } from 'react'
import type { PasskeyOfAccount } from '../../api/account.ts'
import { answer, app } from '../../api/client.ts'
import { hasPasskeys } from '../../api/passkeys.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Section } from '../../components/layout/Section.tsx'
import { Table } from '../../components/lists/Table.tsx'
import { ConfirmDialog } from '../../components/overlays/ConfirmDialog.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Tag } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { AddPasskeyDialog } from './AddPasskeyDialog.tsx'
import { RowsCard } from './RowsCard.tsx'
import { accountStrings as strings } from './strings.ts'
import { useRemoval } from './useRemoval.ts'

/** The passkeys, and a way to another. */
export function PasskeysSection({ passkeys }: { readonly passkeys: readonly PasskeyOfAccount[] }) {
  const [isAdding, setAdding] = useState(false)
  const { asked, ask, close, remove } = useRemoval((passkey: PasskeyOfAccount) =>
    answer(app.DELETE('/app/api/account/passkeys/{id}', { params: { path: { id: passkey.id } } })),
  )
  return (
    <Section
      title={strings.passkeys}
      hint={hasPasskeys() ? strings.passkeysHint : strings.noPasskeysHere}
      actions={
        hasPasskeys() && (
          <Button kind={passkeys.length === 0 ? 'primary' : 'secondary'} onClick={() => setAdding(true)}>
            {strings.addPasskey}
          </Button>
        )
      }
    >
      {passkeys.length === 0 ? (
        <RowsCard>{strings.noPasskeys}</RowsCard>
      ) : (
        <Table
          label={strings.passkeys}
          rows={passkeys}
          rowKey={({ id }) => id}
          columns={[
            {
              key: 'name',
              label: strings.passkeyName,
              isTitle: true,
              isWide: true,
              cell: ({ name, host }) => (
                <span className="inline-flex max-w-full flex-wrap items-center gap-2">
                  <SafeText text={name} />
                  {host !== location.hostname && <Tag>{strings.worksAt(host)}</Tag>}
                </span>
              ),
            },
            { key: 'created', label: strings.created, cell: ({ created_at }) => <Time at={created_at} show="day" /> },
            { key: 'used', label: strings.lastUsed, cell: ({ last_used_at }) => <Time at={last_used_at} /> },
            {
              key: 'actions',
              label: strings.remove,
              isActions: true,
              cell: passkey => (
                <Button kind="quiet" size="small" onClick={() => ask(passkey)}>
                  {strings.remove}
                </Button>
              ),
            },
          ]}
        />
      )}
      <AddPasskeyDialog isOpen={isAdding} onClose={() => setAdding(false)} />
      <ConfirmDialog
        isOpen={asked !== null}
        onClose={close}
        title={strings.removePasskey(asked?.name ?? '')}
        action={strings.remove}
        isDanger
        onConfirm={remove}
      >
        {strings.removePasskeyHint}
      </ConfirmDialog>
    </Section>
  )
}
