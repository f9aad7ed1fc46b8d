import { CopyField } from '../../components/actions/CopyField.tsx'
import { ReceiverExample } from './ReceiverExample.tsx'
import { webhookStrings as strings } from './strings.ts'

/** The secret of an endpoint, once, and how its signatures are checked with it. */
export function SecretView({ secret }: { readonly secret: string }) {
  return (
    <div className="flex flex-col gap-5">
      <CopyField label={strings.secret} value={secret} isShownOnce />
      <div>
        <h3 className="mb-1 text-sm font-medium">{strings.verify}</h3>
        <p className="mb-3 text-sm text-muted">{strings.verifyHint}</p>
        <ReceiverExample />
      </div>
    </div>
  )
}
