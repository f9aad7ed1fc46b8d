interface ProgressProps {
  /** What goes on. */
  readonly label: string
  /** From 0 to 1; null: nobody knows how much there is. */
  readonly value: number | null
}

/** How far something has come. */
export function Progress({ label, value }: ProgressProps) {
  return (
    <div className="min-w-0">
      <div className="mb-1.5 flex justify-between gap-4 text-sm text-muted">
        <span className="truncate">{label}</span>
        {value !== null && <span className="tabular">{Math.floor(value * 100)} %</span>}
      </div>
      <progress
        aria-label={label}
        max={1}
        {...(value !== null && { value })}
        className="block h-1.5 w-full appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
      />
    </div>
  )
}
