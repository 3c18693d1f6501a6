"""Why a posterior is what it is: contributions of labels and of terms, and the label graph."""
