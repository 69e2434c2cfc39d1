package rates

import "hpcbill/rates/yamldoc"

// Fault is one thing wrong with a rate card or a roster, at the place where
// a person can mend it.
type Fault = yamldoc.Fault

// Faults are all the faults of one file, in the order of its lines.
type Faults = yamldoc.Faults
