/** Which instance does the daily work, and for which day it was done (STA-06). */
export interface DailyLease {
  /**
   * Takes the lease of a work, or renews it. A lease that is not renewed ends after `leaseMs`.
   * @param due the time of the day for which it is to be done, epoch ms
   * @returns false when it was done for that time, or another holder has the lease
   * @throws E3812
   */
  take(work: string, due: number, holder: string, leaseMs: number): Promise<boolean>;
  /** The work was done for that time, if the holder has the lease. @throws E3812 */
  done(work: string, due: number, holder: string): Promise<void>;
}
