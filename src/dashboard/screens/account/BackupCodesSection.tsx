import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Account, accountQuery } from '../../api/account.ts'
import { answer, app } from '../../api/client.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Notice } from '../../components/feedback/Notice.tsx'
import { Section } from '../../components/layout/Section.tsx'
import { ConfirmDialog } from '../../components/overlays/ConfirmDialog.tsx'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { CodeBlock } from '../../components/text/CodeBlock.tsx'
import { RowsCard } from './RowsCard.tsx'
import { accountStrings as strings } from './strings.ts'

/** Codes for the day when every other factor is gone. Absent for whoever has no password, beside which they go. */
export function BackupCodesSection({ account }: { readonly account: Account }) {
  const queryClient = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const hasFactor = account.has_authenticator || account.passkeys.length > 0
  if (!account.has_password || !hasFactor) return null
  const left = account.backup_codes_left
  const action = left === 0 ? strings.makeCodes : strings.renewCodes
  const renew = async () => {
    const made = await answer(app.POST('/app/api/account/backup-codes'))
    setCodes(made.codes)
    await queryClient.invalidateQueries({ queryKey: accountQuery.queryKey })
  }
  return (
    <Section title={strings.backupCodes} hint={strings.backupCodesHint}>
      <RowsCard actions={<Button onClick={() => setAsking(true)}>{action}</Button>}>{strings.codesLeft(left)}</RowsCard>
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={`${action}?`}
        action={action}
        onConfirm={renew}
      >
        {left === 0 ? strings.backupCodesHint : strings.renewHint}
      </ConfirmDialog>
      <Dialog
        isOpen={codes !== null}
        onClose={() => setCodes(null)}
        title={strings.codesTitle}
        width="small"
        footer={
          <Button kind="primary" onClick={() => setCodes(null)}>
            {strings.codesStored}
          </Button>
        }
      >
        <div className="flex flex-col gap-4">
          <Notice tone="warn" title={strings.codesShownOnce} />
          <CodeBlock label={strings.codesTitle} code={(codes ?? []).join('\n')} />
        </div>
      </Dialog>
    </Section>
  )
}
