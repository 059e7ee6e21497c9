/** The list that scripts/build-dashboard.ts makes of its files, in `manifest.json` beside them. */
export interface DashboardManifest {
  /** The media type of each file in `assets/`, by its hashed name. */
  readonly files: Readonly<Record<string, string>>
}
