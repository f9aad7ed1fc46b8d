import { ChevronDown, Clock, Send } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../../components/actions/Button.tsx'
import { IconButton } from '../../../../components/actions/IconButton.tsx'
import { TextInput } from '../../../../components/fields/TextInput.tsx'
import { Dialog } from '../../../../components/overlays/Dialog.tsx'
import { Menu, MenuItem } from '../../../../components/overlays/Menu.tsx'
import { mailStrings as strings } from '../../strings.ts'
import { localInputValue, scheduleChoices } from './schedule.ts'

interface SendButtonsProps {
  readonly isBusy: boolean
  /** @param at when it goes out, ISO 8601; null: now */
  readonly onSend: (at: string | null) => void
}

const format = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** An instant as people say it, in their zone. */
export function formatSchedule(at: string): string {
  return format.format(new Date(at))
}

/** Sends now, or later. */
export function SendButtons({ isBusy, onSend }: SendButtonsProps) {
  const [isChoosing, setChoosing] = useState(false)
  const [chosen, setChosen] = useState('')
  const choose = () => {
    setChosen(localInputValue(scheduleChoices(new Date())[1]?.at ?? new Date()))
    setChoosing(true)
  }
  return (
    <div className="flex items-center gap-1">
      <Button kind="primary" icon={<Send />} isBusy={isBusy} onClick={() => onSend(null)}>
        {strings.send}
      </Button>
      <Menu button={<IconButton label={strings.sendLater} icon={<ChevronDown />} disabled={isBusy} />}>
        {scheduleChoices(new Date()).map(({ key, at }) => (
          <MenuItem key={key} icon={<Clock />} onSelect={() => onSend(at.toISOString())}>
            {strings.schedule[key]}
          </MenuItem>
        ))}
        <MenuItem icon={<Clock />} onSelect={choose}>
          {strings.schedule.choose}
        </MenuItem>
      </Menu>
      <Dialog
        isOpen={isChoosing}
        onClose={() => setChoosing(false)}
        title={strings.sendLater}
        width="small"
        footer={
          <Button
            kind="primary"
            disabled={Number.isNaN(Date.parse(chosen))}
            onClick={() => {
              setChoosing(false)
              onSend(new Date(chosen).toISOString())
            }}
          >
            {strings.schedule.set}
          </Button>
        }
      >
        <TextInput label={strings.schedule.at} type="datetime-local" value={chosen} onValue={setChosen} />
      </Dialog>
    </div>
  )
}
