/** The list of its files that scripts/build-dashboard.ts writes to `manifest.json`. */
export interface DashboardManifest {
  /** The media type of each file in `assets/`, by its hashed name. */
  readonly files: Readonly<Record<string, string>>
}
